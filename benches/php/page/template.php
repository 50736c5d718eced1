<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Articles</title></head>
<body>
<h1><?= count($articles) ?> articles</h1>
<ul>
<?php foreach ($articles as $number => $article): ?>
<li class="<?= $number % 2 ? 'odd' : 'even' ?>" id="<?= $article['code'] ?>">
    <a href="/article/<?= rawurlencode($article['slug']) ?>"><?= htmlspecialchars($article['name']) ?></a>
    <p><?= nl2br(htmlspecialchars($article['text'])) ?></p>
    <strong><?= number_format($article['price'] / 100, 2) ?> &euro;</strong>
</li>
<?php endforeach ?>
</ul>
</body>
</html>
