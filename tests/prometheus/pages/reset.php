<?php
declare(strict_types=1);
TokenBucket\reset_statistics('*');
