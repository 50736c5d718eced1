<?php

namespace TokenBucket\Stubs;

use PhpParser\Node\Expr;
use PhpParser\Node\Identifier;
use PhpParser\Node\Stmt;
use Psalm\CodeLocation;
use Psalm\Issue\PluginIssue;
use Psalm\IssueBuffer;
use Psalm\Plugin\EventHandler\AfterExpressionAnalysisInterface;
use Psalm\Plugin\EventHandler\AfterStatementAnalysisInterface;
use Psalm\Plugin\EventHandler\Event\AfterExpressionAnalysisEvent;
use Psalm\Plugin\EventHandler\Event\AfterStatementAnalysisEvent;
use Psalm\StatementsSource;

/** For Psalm: a Decision that is used as a bool, which is always true with the stand-in in plain PHP, and one that is not used. */
final class DecisionPlugin implements AfterExpressionAnalysisInterface, AfterStatementAnalysisInterface
{
    public static function afterExpressionAnalysis(AfterExpressionAnalysisEvent $event): ?bool
    {
        $expr = $event->getExpr();
        $conditions = match (true) {
            $expr instanceof Expr\Ternary => [$expr->cond],
            $expr instanceof Expr\BooleanNot, $expr instanceof Expr\Cast\Bool_ => [$expr->expr],
            $expr instanceof Expr\BinaryOp\BooleanAnd, $expr instanceof Expr\BinaryOp\BooleanOr, $expr instanceof Expr\BinaryOp\LogicalAnd,
            $expr instanceof Expr\BinaryOp\LogicalOr, $expr instanceof Expr\BinaryOp\LogicalXor => [$expr->left, $expr->right],
            default => [],
        };
        foreach ($conditions as $condition) {
            self::reportIfDecision($condition, $event->getStatementsSource());
        }
        return null;
    }

    public static function afterStatementAnalysis(AfterStatementAnalysisEvent $event): ?bool
    {
        $stmt = $event->getStmt();
        $conditions = match (true) {
            $stmt instanceof Stmt\If_ => [$stmt->cond, ...array_map(static fn (Stmt\ElseIf_ $else): Expr => $else->cond, $stmt->elseifs)],
            $stmt instanceof Stmt\While_, $stmt instanceof Stmt\Do_ => [$stmt->cond],
            default => [],
        };
        foreach ($conditions as $condition) {
            self::reportIfDecision($condition, $event->getStatementsSource());
        }
        $call = $stmt instanceof Stmt\Expression ? $stmt->expr : null;
        if (($call instanceof Expr\MethodCall || $call instanceof Expr\NullsafeMethodCall) && $call->name instanceof Identifier
            && in_array(strtolower($call->name->name), ['attempt', 'reserve'], true)) {
            $message = "The TokenBucket\\Decision of {$call->name->name}() is not used: ask isAccepted(), or call consume()";
            self::reportIfDecision($call, $event->getStatementsSource(), $message);
        }
        return null;
    }

    private static function reportIfDecision(
        Expr $expr,
        StatementsSource $source,
        string $message = 'A TokenBucket\Decision is always true in plain PHP: ask isAccepted()',
    ): void {
        $types = $source->getNodeTypeProvider()->getType($expr)?->getAtomicTypes() ?? [];
        $names = array_map('strval', array_values($types));
        if ($names === ['TokenBucket\Decision']) {
            IssueBuffer::maybeAdd(new DecisionIssue($message, new CodeLocation($source, $expr)), $source->getSuppressedIssues());
        }
    }
}

/** Is reported, and suppressed, by this name. */
final class DecisionIssue extends PluginIssue {}
