<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\HttpFoundation\RequestStack;
use Symfony\Component\Security\Core\Exception\TooManyLoginAttemptsAuthenticationException;
use Symfony\Component\Security\Http\Authenticator\Passport\Badge\UserBadge;
use Symfony\Component\Security\Http\Event\CheckPassportEvent;
use Symfony\Component\Security\Http\Event\LoginSuccessEvent;
use TokenBucket\Decision;

/**
 * Limits logins, of which only failures count.
 *
 * It charges an attempt before the password is looked at, and refunds it after a success. Symfony's own listener looks first
 * and charges a failure afterwards, so that guesses at the same time all pass.
 */
final class LoginThrottlingListener implements EventSubscriberInterface
{
    /** Before the password is looked at, as in Symfony's own listener. */
    private const PRIORITY = 2080;

    /** @var \WeakMap<object, Decision> by passport */
    private \WeakMap $charged;

    public function __construct(private RequestStack $requestStack, private RequestRateLimiter $limiter)
    {
        $this->charged = new \WeakMap();
    }

    public function checkPassport(CheckPassportEvent $event): void
    {
        $passport = $event->getPassport();
        $badge = $passport->getBadge(UserBadge::class);
        $request = $this->requestStack->getMainRequest();
        if (!$badge instanceof UserBadge || $request === null) {
            return;
        }
        $request->attributes->set(LoginRateLimiter::LAST_USERNAME, $badge->getUserIdentifier());
        $decision = $this->limiter->attempt($request);
        if ($decision === null) {
            return;
        }
        if (!$decision->isAccepted()) {
            throw new TooManyLoginAttemptsAuthenticationException(max(1, (int) ceil($decision->getRetryAfter() / 60)));
        }
        $this->charged[$passport] = $decision;
    }

    public function onSuccessfulLogin(LoginSuccessEvent $event): void
    {
        $passport = $event->getPassport();
        if (isset($this->charged[$passport])) {
            $this->charged[$passport]->refund();
            unset($this->charged[$passport]);
        }
        $this->limiter->reset($event->getRequest());
    }

    /** @return array<string, string|array{string, int}> */
    public static function getSubscribedEvents(): array
    {
        return [
            CheckPassportEvent::class => ['checkPassport', self::PRIORITY],
            LoginSuccessEvent::class => 'onSuccessfulLogin',
        ];
    }
}
