--TEST--
Reflection: the loaded extension matches the stubs exactly
--EXTENSIONS--
tokenizer
--INI--
pcre.jit=0
--FILE--
<?php
/*
 * The stubs are loaded under another name (Stub\...), and both are described the same way.
 */
$names = [];
foreach ((new ReflectionExtension('token_bucket'))->getClassNames() as $name) {
    $names[$name] = true;
}

/** The code of a stub, its classes being declared below Stub\. */
function below_stub(string $code, array $names): string
{
    $namespace = '';
    $out = '';
    $tokens = token_get_all($code);
    foreach ($tokens as $i => $token) {
        [$id, $text] = is_array($token) ? $token : [null, $token];
        if ($id === T_OPEN_TAG || $id === T_DOC_COMMENT || $id === T_COMMENT) {
            continue;
        }
        if ($id === T_NAMESPACE) {
            $namespace = trim($tokens[$i + 2][1]);
        }
        $own = ltrim($text, '\\');
        $full = $id === T_NAME_FULLY_QUALIFIED ? $own : ltrim("$namespace\\$own", '\\');
        $named = in_array($id, [T_STRING, T_NAME_QUALIFIED, T_NAME_FULLY_QUALIFIED], true);
        $declared = $id === T_STRING && in_array($tokens[$i - 2][0] ?? null, [T_CLASS, T_INTERFACE], true);
        if ($named && !$declared && isset($names[$full]) && ($tokens[$i - 2][0] ?? null) !== T_NAMESPACE) {
            $text = "\\Stub\\$full";
        }
        $out .= $text;
    }
    if ($namespace !== '') {
        return str_replace("namespace $namespace;", "namespace Stub\\$namespace;", $out);
    }
    return "namespace Stub; use Throwable; $out";
}

/** What a class declares or has from one of ours; what it has from a class of PHP's own is left out. */
function describe(ReflectionClass $class): array
{
    $plain = fn (?string $text) => str_replace('Stub\\', '', (string) $text);
    $modifiers = fn ($of) => implode(' ', Reflection::getModifierNames($of->getModifiers()));
    $ours = fn ($of) => isset($GLOBALS['names'][$plain($of->getDeclaringClass()->name)]);
    $type = function (?ReflectionType $type) use ($plain) {
        $types = explode('|', $plain($type));
        sort($types);
        return implode('|', $types);
    };
    $told = [
        'is' => $modifiers($class) . ($class->isInterface() ? ' interface' : ' class'),
        'parent' => $class->getParentClass() ? $class->getParentClass()->name : '',
        'interfaces' => array_map($plain, $class->getInterfaceNames()),
        'constants' => [],
        'properties' => [],
        'methods' => [],
    ];
    sort($told['interfaces']);
    foreach (array_filter($class->getReflectionConstants(), $ours) as $constant) {
        $told['constants'][$constant->name] = $modifiers($constant) . ' ' . var_export($constant->getValue(), true);
    }
    // A private one is not part of the surface.
    foreach (array_filter($class->getProperties(ReflectionProperty::IS_PUBLIC | ReflectionProperty::IS_PROTECTED), $ours) as $property) {
        $told['properties'][$property->name] = $modifiers($property) . ' ' . $type($property->getType());
    }
    foreach (array_filter($class->getMethods(), $ours) as $method) {
        $parameters = [];
        foreach ($method->getParameters() as $parameter) {
            $parameters[] = $type($parameter->getType())
                . ($parameter->isPassedByReference() ? ' &' : ' ') . ($parameter->isVariadic() ? '...$' : '$') . $parameter->name
                . ($parameter->isOptional() ? ' optional' : '')
                . ($parameter->isDefaultValueAvailable() ? ' = ' . var_export($parameter->getDefaultValue(), true) : '');
        }
        $told['methods'][$method->name] = $modifiers($method) . ($method->returnsReference() ? ' &' : '')
            . ' (' . implode(', ', $parameters) . ') ' . $type($method->getReturnType());
    }
    // The order of declaration is nobody's business, except that of parameters.
    ksort($told['constants']);
    ksort($told['properties']);
    ksort($told['methods']);
    return $told;
}

$files = [];
foreach ($names as $name => $_) {
    $file = __DIR__ . '/../../stubs/' . str_replace('\\', '/', $name) . '.php';
    if (!is_file($file)) {
        echo "no stub for $name\n";
        continue;
    }
    $files[realpath($file)] = $name;
}
// Functions: all in one file, declared below Stub. (Valgrind does not understand what PCRE compiles: no JIT.)
$signature = fn (ReflectionFunction $function) => preg_replace(['/^.*?- Parameters/s', '/= NULL/'], ['', '= null'], preg_replace('/Stub\\\\/i', '', (string) $function));
$file = realpath(__DIR__ . '/../../stubs/TokenBucket/functions.php');
$files[$file] = null;
eval(below_stub(file_get_contents($file), $names));
$functions = [];
foreach ((new ReflectionExtension('token_bucket'))->getFunctions() as $function) {
    $functions[] = strtolower("Stub\\$function->name");
    if (!function_exists("Stub\\$function->name")) {
        echo "no stub for $function->name\n";
    } elseif ($signature($function) !== $signature(new ReflectionFunction("Stub\\$function->name"))) {
        echo "$function->name differs: $function\n";
    }
}
foreach (array_filter(get_defined_functions()['user'], fn (string $name) => str_starts_with($name, 'stub\\')) as $name) {
    if (!in_array($name, $functions, true)) {
        echo "no function for $name\n";
    }
}
foreach (array_merge(glob(__DIR__ . '/../../stubs/*.php'), glob(__DIR__ . '/../../stubs/TokenBucket/*.php')) as $file) {
    if (!array_key_exists(realpath($file), $files)) {
        echo "no class for $file\n";
    }
}
spl_autoload_register(function (string $stub) use ($files, $names) {
    $file = array_search(substr($stub, 5), $files, true);
    eval(below_stub(file_get_contents($file), $names));
});
// The docblocks: @param names each parameter that the function takes, in order, or none.
foreach (array_keys($files) as $file) {
    preg_match_all('~/\*\*((?:(?!\*/).)*)\*/\s*(?:(?:final|public|protected|private|static|abstract) )*function (\w+)\(([^{;]*)\)~s', file_get_contents($file), $functions, PREG_SET_ORDER);
    foreach ($functions as [, $doc, $name, $parameters]) {
        preg_match_all('~@param\s+\S+\s+(?:\.\.\.)?\$(\w+)~', $doc, $named);
        preg_match_all('~\$(\w+)~', $parameters, $taken);
        if ($named[1] !== [] && $named[1] !== $taken[1]) {
            echo basename($file), ": $name($parameters): @param names ", implode(', ', $named[1]), "\n";
        }
    }
}
foreach (array_filter($files) as $name) {
    $stub = describe(new ReflectionClass("Stub\\$name"));
    $real = describe(new ReflectionClass($name));
    if ($stub !== $real) {
        echo $name, ' differs: ', json_encode(['stub' => $stub, 'real' => $real], JSON_PRETTY_PRINT), "\n";
    }
}
// Only those that an application may extend are not final.
$open = array_filter(array_keys($names), fn (string $name) => !(new ReflectionClass($name))->isFinal() && !(new ReflectionClass($name))->isInterface());
echo 'to extend: ', implode(', ', array_values(array_filter($open, fn (string $name) => !is_subclass_of($name, Throwable::class)))), "\n";
echo count(array_filter($files)), " classes, ", count($files), " stubs\n";
?>
--EXPECT--
to extend: TokenBucket
23 classes, 24 stubs
