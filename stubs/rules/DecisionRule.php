<?php

namespace TokenBucket\Stubs;

use PhpParser\Node;
use PhpParser\Node\Expr;
use PhpParser\Node\Stmt;
use PHPStan\Analyser\Scope;
use PHPStan\Rules\Rule;
use PHPStan\Rules\RuleErrorBuilder;
use PHPStan\Type\Type;
use PHPStan\Type\TypeCombinator;

/**
 * For PHPStan: a Decision that is used as a bool, which is always true with the stand-in in plain PHP, and one that is not used.
 *
 * @implements Rule<Node>
 */
final class DecisionRule implements Rule
{
    public function getNodeType(): string { return Node::class; }

    public function processNode(Node $node, Scope $scope): array
    {
        $errors = [];
        foreach (self::conditions($node) as $condition) {
            if (self::isDecision($scope->getType($condition))) {
                $errors[] = RuleErrorBuilder::message('A TokenBucket\Decision is always true in plain PHP: ask isAccepted().')
                    ->identifier('tokenBucket.decisionAsBool')->line($condition->getStartLine())->build();
            }
        }
        $call = $node instanceof Stmt\Expression ? $node->expr : null;
        if ($call instanceof Expr\MethodCall || $call instanceof Expr\NullsafeMethodCall) {
            $isMeant = $call->name instanceof Node\Identifier && in_array(strtolower($call->name->name), ['attempt', 'reserve'], true);
            if ($isMeant && self::isDecision(TypeCombinator::removeNull($scope->getType($call)))) {
                $errors[] = RuleErrorBuilder::message("The TokenBucket\\Decision of {$call->name->name}() is not used: ask isAccepted(), or call consume().")
                    ->identifier('tokenBucket.unusedDecision')->line($call->getStartLine())->build();
            }
        }
        return $errors;
    }

    /** Of one that may be null, a condition asks whether it is. */
    private static function isDecision(Type $type): bool
    {
        return $type->isObject()->yes() && $type->getObjectClassNames() === ['TokenBucket\Decision'];
    }

    /** @return list<Expr> what a node takes for a bool */
    private static function conditions(Node $node): array
    {
        return match (true) {
            $node instanceof Stmt\If_, $node instanceof Stmt\ElseIf_, $node instanceof Stmt\While_, $node instanceof Stmt\Do_,
            $node instanceof Expr\Ternary => [$node->cond],
            $node instanceof Expr\BooleanNot, $node instanceof Expr\Cast\Bool_ => [$node->expr],
            $node instanceof Expr\BinaryOp\BooleanAnd, $node instanceof Expr\BinaryOp\BooleanOr, $node instanceof Expr\BinaryOp\LogicalAnd,
            $node instanceof Expr\BinaryOp\LogicalOr, $node instanceof Expr\BinaryOp\LogicalXor => [$node->left, $node->right],
            default => [],
        };
    }
}
