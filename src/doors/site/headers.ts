// Headers of a page. Nothing inline runs, nothing comes from another host, no other site may frame it; scripts may call this gateway.
import type { Addresses } from '../../core/config.ts'

/** @param addresses whose API the pages call, where it has another origin than they have */
export function pageHeaders({
  baseUrl,
  siteUrl,
}: Pick<Addresses, 'baseUrl' | 'siteUrl'>): Record<string, string> {
  const api = new URL(baseUrl).origin
  const connect = api === new URL(siteUrl).origin ? "'self'" : `'self' ${api}`
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "font-src 'self'",
      `connect-src ${connect}`,
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    // With `no-referrer` browsers send forms of our own pages with `Origin: null` (Fetch, section 3.2), which names nobody and is refused.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy':
      'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), midi=(), payment=(), usb=()',
  }
}
