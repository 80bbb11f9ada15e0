<?php
// Laravel's cache lock on predis.
//
//   lockbench gate --worker 'php examples/libraries/php/laravel_predis.php'

declare(strict_types=1);

require __DIR__ . '/laravel.php';

final class LaravelOnPredis extends LaravelLock
{
    const CLIENT = 'predis';
}

Lockbench\serve(LaravelOnPredis::class);
