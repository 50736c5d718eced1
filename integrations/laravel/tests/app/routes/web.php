<?php

declare(strict_types=1);

use App\Http\Controllers\LoginController;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Route;

$page = static fn () => 'page';
foreach (['api', 'custom', 'set', 'same-key', 'none', 'none-and-one', 'office', 'closed', 'ready-response'] as $limiter) {
    Route::get("/$limiter", $page)->middleware("throttle:$limiter");
}
Route::get('/ten-a-minute', $page)->middleware('throttle:10,1');
Route::get('/ten-a-minute-too', $page)->middleware('throttle:10,1');
Route::get('/three-in-ten-minutes', $page)->middleware('throttle:3,10');
Route::get('/half-a-minute', $page)->middleware('throttle:1,0.5,half');
Route::get('/guest-or-user', $page)->middleware('throttle:2|100,1,guests');
Route::get('/nonsense', $page)->middleware('throttle:5,-1');
Route::get('/twice', $page)->middleware(['throttle:10,1,outer', 'throttle:2,1,inner']);

// A login of which only failures count: the password is "correct horse".
$password = static fn (Request $request) => $request->query('password') === 'correct horse' ? response('in') : response('wrong', 401);
Route::get('/failures', $password)->middleware('throttle:failures');
Route::get('/login', [LoginController::class, 'chargeFirst']);
Route::get('/login-as-documented', [LoginController::class, 'asDocumented']);
