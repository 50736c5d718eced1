<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** What a user agent says of itself. Anyone can forge it. */
enum UserAgent: string
{
    case Browser = 'browser';
    case Crawler = 'crawler';
    case Script = 'script';
    case Missing = 'missing';
    case Other = 'other';

    private const CRAWLERS = '~(?<!cu)bot\b|bot[/_-]|crawl|spider|slurp|archiver|facebookexternalhit|feedfetcher|pingdom|uptime|monitoring|scanner|inspect~i';
    private const SCRIPTS = '~^(?:curl|wget|python|go-http|java/|okhttp|libwww|lwp|php|ruby|perl|axios|node|undici|httpie|scrapy|aiohttp|guzzle|postman|'
        . 'apache-httpclient|got \()|headless|phantomjs|selenium|puppeteer|playwright~i';

    public static function fromText(string $text): self
    {
        return match (true) {
            $text === '', $text === '-' => self::Missing,
            preg_match(self::SCRIPTS, $text) === 1 => self::Script,
            preg_match(self::CRAWLERS, $text) === 1 => self::Crawler,
            preg_match('~^(?:Mozilla|Opera)/~', $text) === 1 => self::Browser,
            default => self::Other,
        };
    }
}
