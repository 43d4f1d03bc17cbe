// The guides by who reads them. The site has each at `/docs/{name}`, made of the file of that name in `docs/` when the package is built.

/** Who reads what, in the order of reading. What is in none of these is found at the end. */
export const SHELVES = {
  connect: ['start', 'sign-in', 'mcp', 'frameworks', 'a2a', 'rest', 'site', 'answers'],
  use: [
    'outcomes',
    'outcomes-compared',
    'web-fetch',
    'credential-broker',
    'unmodified-programs',
    'permits',
    'inspection',
    'email',
    'tools',
  ],
  buy: ['payments', 'buying', 'discovery', 'market-figures'],
  sell: ['selling', 'seller-money', 'edge'],
  operate: [
    'console',
    'people',
    'configuration',
    'operating',
    'limits',
    'performance',
    'architecture',
    'dependencies',
  ],
  security: ['security-model', 'security', 'report-a-weakness', 'contract'],
  examples: ['examples'],
} as const
