<?php
/*
 * The limit of the measurements: it accepts every measured call.
 */
const CAPACITY = 1_000_000_000;
const RATE = 1_000_000;
