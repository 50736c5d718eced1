<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests\app;

use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\Security\Http\Authentication\AuthenticationUtils;

final class LoginPage
{
    public function login(AuthenticationUtils $utils): Response
    {
        $error = $utils->getLastAuthenticationError();

        return new Response($error === null ? 'log in' : strtr($error->getMessageKey(), $error->getMessageData()));
    }

    public function home(): Response
    {
        return new Response('home');
    }
}
