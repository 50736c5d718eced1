<?php

/*
 * Prints the classes and functions of the stubs as PHP has them: those of the extension, or of the stand-in. Both print the same.
 * Usage: surface.php
 */

declare(strict_types=1);

const STUBS = __DIR__ . '/../../../stubs';
/** Methods by which PHP asks an object written in PHP for what the engine asks of a native one. */
const OF_PHP = ['__debugInfo', '__clone', '__serialize', '__unserialize', '__set', '__destruct', '__wakeup'];

function type(?ReflectionType $type): string
{
    $types = explode('|', (string) $type);
    sort($types);
    return implode('|', $types);
}

function parameters(ReflectionFunctionAbstract $function): string
{
    $each = array_map(static fn (ReflectionParameter $it): string => type($it->getType()) . ($it->isVariadic() ? ' ...' : ' ') . "\${$it->name}"
        . ($it->isDefaultValueAvailable() ? ' = ' . var_export($it->getDefaultValue(), true) : ''), $function->getParameters());
    return '(' . implode(', ', $each) . '): ' . type($function->getReturnType());
}

$files = array_merge(glob(STUBS . '/*.php'), glob(STUBS . '/TokenBucket/*.php'));
preg_match_all('/^function (\w+)/m', (string) file_get_contents(STUBS . '/TokenBucket/functions.php'), $functions);
foreach ($functions[1] as $name) {
    $function = new ReflectionFunction("TokenBucket\\$name");
    echo 'function ', $function->name, parameters($function), "\n";
}
foreach (array_diff($files, [STUBS . '/TokenBucket/functions.php']) as $file) {
    $name = str_replace('/', '\\', substr($file, strlen(STUBS) + 1, -4));
    if (!class_exists($name) && !interface_exists($name)) {
        echo "$name is missing\n";
        continue;
    }
    $class = new ReflectionClass($name);
    $interfaces = $class->getInterfaceNames();
    sort($interfaces);
    echo implode(' ', Reflection::getModifierNames($class->getModifiers())), $class->isInterface() ? ' interface ' : ' class ', $class->name, ' extends ',
        $class->getParentClass() ? $class->getParentClass()->name : 'nothing', ', ', implode(', ', $interfaces), "\n";
    $constants = array_filter($class->getReflectionConstants(), static fn (ReflectionClassConstant $it): bool => $it->isPublic() && $it->class === $class->name);
    foreach ($constants as $constant) {
        echo '    const ', $constant->name, ' = ', var_export($constant->getValue(), true), "\n";
    }
    $methods = [];
    foreach ($class->getMethods() as $method) {
        $isOwn = $method->class === $class->name && !in_array($method->name, OF_PHP, true);
        if ($isOwn && (!$method->isPrivate() || $method->name === '__construct')) {
            $methods[$method->name] = implode(' ', Reflection::getModifierNames($method->getModifiers())) . " {$method->name}"
                . ($method->isPrivate() ? '' : parameters($method))
                // PHP has it from 8.5 on, and so has the extension.
                . (PHP_VERSION_ID >= 80500 && $method->getAttributes('NoDiscard') !== [] ? ' #[NoDiscard]' : '');
        }
    }
    ksort($methods);
    foreach ($methods as $method) {
        echo "    $method\n";
    }
}
