// Credentials in the public formats of their issuers, none of them real. They are put together here from parts, so that no
// file holds anything that looks like a live one.

const UPPER = 'Q7ZK3M9XPT2WV5RY8BNHJ4GDLFCS6A'
const LOWER = 'k7mq2zt9xw4vb8np3rj6hd5gs'
const MIXED = 'aB3xK9mQ7zT2wV5rY8nH4jG6dL1fC0sPqE'
const HEX = '9f3c1a7be42d5806'
const repeat = (alphabet: string, chars: number) => alphabet.repeat(Math.ceil(chars / alphabet.length)).slice(0, chars)
const mixed = (chars: number) => repeat(MIXED, chars)
const upper = (chars: number) => repeat(UPPER, chars)
const lower = (chars: number) => repeat(LOWER, chars)
const hex = (chars: number) => repeat(HEX, chars)
const b64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Kind, and one of its kind. */
export const TOKENS: readonly (readonly [kind: string, token: string])[] = [
  ['aws_access_key', ['AK', 'IA'].join('') + upper(16)],
  ['aws_access_key', ['AS', 'IA'].join('') + upper(16)],
  ...['ghp', 'gho', 'ghs', 'ghu', 'ghr'].map((start) => ['github_token', `${start}_${mixed(36)}`] as const),
  ['github_token', ['github', 'pat', mixed(22), mixed(59)].join('_')],
  ['gitlab_token', ['glpat', mixed(20)].join('-')],
  ['stripe_secret_key', ['sk', 'live', mixed(24)].join('_')],
  ['stripe_secret_key', ['rk', 'live', mixed(99)].join('_')],
  ['stripe_test_key', ['sk', 'test', mixed(24)].join('_')],
  ['webhook_secret', ['whsec', mixed(32)].join('_')],
  ['anthropic_key', ['sk', 'ant', 'api03', `${mixed(93)}AA`].join('-')],
  ['openai_key', ['sk', 'proj', mixed(60)].join('-')],
  ['openai_key', ['sk', 'svcacct', mixed(60)].join('-')],
  ['openai_key', ['sk-', mixed(20), 'T3Blbk', 'FJ', mixed(20)].join('')],
  ['openrouter_key', ['sk', 'or', 'v1', hex(64)].join('-')],
  ['google_api_key', ['AI', 'za', mixed(35)].join('')],
  ['google_oauth_secret', ['GOC', 'SPX', '-', mixed(28)].join('')],
  ...['xoxa', 'xoxb', 'xoxp', 'xoxr', 'xoxs'].map(
    (start) => ['slack_token', [start, '123456789012', mixed(24)].join('-')] as const,
  ),
  ['slack_token', ['xapp', '1', upper(11), '1234567890123', hex(64)].join('-')],
  ['slack_webhook', ['https://hooks.slack', '.com/services/T', upper(8), '/B', upper(8), '/', mixed(24)].join('')],
  ['discord_webhook', ['https://discord', '.com/api/webhooks/', '123456789012345678', '/', mixed(68)].join('')],
  ['discord_token', [`M${mixed(25)}`, mixed(6), mixed(38)].join('.')],
  ['npm_token', ['npm', mixed(36)].join('_')],
  ['pypi_token', ['pypi', `AgE${mixed(120)}`].join('-')],
  ['docker_token', ['dckr', 'pat', mixed(27)].join('_')],
  ['sendgrid_key', ['SG', mixed(22), mixed(43)].join('.')],
  ['twilio_key', ['S', 'K', hex(32)].join('')],
  ['huggingface_token', ['hf', mixed(34)].join('_')],
  ['groq_key', ['gsk', mixed(52)].join('_')],
  ['replicate_token', ['r8', mixed(37)].join('_')],
  ['vercel_token', ['vcp', mixed(56)].join('_')],
  ['supabase_token', ['sbp', hex(40)].join('_')],
  ['supabase_token', ['sb', 'secret', mixed(31)].join('_')],
  ['telegram_token', ['1234567890', `AA${mixed(33)}`].join(':')],
  ['digitalocean_token', ['dop', 'v1', hex(64)].join('_')],
  ['shopify_token', ['shpat', hex(32)].join('_')],
  ['notion_token', ['ntn', mixed(46)].join('_')],
  ['linear_key', ['lin', 'api', mixed(40)].join('_')],
  ['postman_key', ['PMAK', hex(24), hex(34)].join('-')],
  ['databricks_token', ['da', 'pi', hex(32)].join('')],
  ['vault_token', ['hvs', mixed(90)].join('.')],
  ['age_secret_key', ['AGE-SECRET', '-KEY-1', repeat('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)].join('')],
  ...['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED '].map(
    (kind) => ['private_key_pem', ['-----BEGIN ', kind, 'PRIVATE KEY-----\n', mixed(64)].join('')] as const,
  ),
  ['private_key_pem', ['-----BEGIN PGP ', 'PRIVATE KEY BLOCK-----\n', mixed(64)].join('')],
  ['basic_auth_url', ['https://ada', `${lower(10)}@db.example.com/x`].join(':')],
  ['jwt', [b64({ alg: 'HS256', typ: 'JWT' }), b64({ sub: 'ada', exp: 1790000000 }), mixed(43)].join('.')],
  ['seed_phrase', `${'abandon '.repeat(11)}about`],
  ['seed_phrase', 'legal winner thank year wave sausage worth useful legal winner thank yellow'],
  ['seed_phrase', `${'zoo '.repeat(23)}vote`],
  ['gateway_token', ['agw', 'sk', mixed(49)].join('_')],
]

/** Name it stands under, and the kind it is then. */
export const NAMED_TOKENS: readonly (readonly [name: string, value: string, kind: string])[] = [
  ['privateKey', `0x${hex(64)}`, 'evm_private_key'],
  ['private_key', hex(64), 'evm_private_key'],
  ['WALLET_SECRET_KEY', hex(64), 'evm_private_key'],
  ['signingKey', hex(64), 'evm_private_key'],
  ['mnemonic', hex(64), 'evm_private_key'],
  ['secretKey', repeat('5Kd3NBUAdUnhyzenEwVLy9pBKxSwXvE9FMPyR4UKZvpe6E3AgLr', 88), 'solana_private_key'],
  ['api_key', mixed(40), 'high_entropy_secret'],
  ['apiKey', hex(32), 'high_entropy_secret'],
  ['X-Client-Secret', mixed(40), 'high_entropy_secret'],
  ['aws_secret_access_key', `${mixed(30)}/+${mixed(8)}`, 'high_entropy_secret'],
  ['refreshToken', mixed(64), 'high_entropy_secret'],
  ['password', mixed(32), 'high_entropy_secret'],
]

const sdJwt = [
  [b64({ alg: 'ES256', typ: 'example+sd-jwt' }), b64({ vct: 'mandate.payment.1', _sd_alg: 'sha-256' }), mixed(86)].join('.'),
  b64(['c2FsdA', { id: 'shop' }]),
  '',
].join('~')

/** What payments and shops are full of, and is no secret: name and value. */
export const HARMLESS: readonly (readonly [name: string, value: string])[] = [
  ['nonce', `0x${hex(64)}`],
  ['tx_hash', `0x${hex(64)}`],
  ['transaction', hex(64)],
  ['nonce', '4186230957721094563870921'],
  ['amount', '4242424242424242'],
  ['id', '0b6f4c5e-91d3-4a7e-8c25-6f1de0a973b4'],
  ['Idempotency-Key', '0b6f4c5e-91d3-4a7e-8c25-6f1de0a973b4'],
  ['idempotency_key', mixed(43)],
  ['Idempotency-Key', `key-${hex(32)}`],
  ['verification_code', '1234'],
  ['public_key', hex(64)],
  ['key_id', mixed(40)],
  ['asset', '0x036CbD53842c5426634e7929541eC2318f3dCF7e'],
  ['token', '0x036CbD53842c5426634e7929541eC2318f3dCF7e'],
  ['payTo', '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4'],
  ['image', `data:image/png;base64,${Buffer.from(repeat('\u0001\u00ff\u0080picture', 3000), 'latin1').toString('base64')}`],
  ['digest', `sha-256=:${Buffer.from(hex(64), 'hex').toString('base64')}:`],
  ['payment_mandate', sdJwt],
  ['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  ['created', '1790000000000'],
  ['phone', '+1 555 123 4567'],
  ['version', '2026-04-17'],
  ['url', 'https://shop.example/sk/live/tea?page=2'],
  ['note', 'Ask for the sk-proj desk, or for npm_ and ghp_ fans; AKIA is a brand of tea. SG.1 is a lamp.'],
  ['note', 'The quick brown fox jumps over the lazy dog, and then it goes home to have some tea with an old friend.'],
  // Words of the list, in a row, without the checksum of a phrase.
  ['note', 'garden table flower window bottle orange market street winter summer music dance'],
  ['api_key', '<your api key goes here, thirty-two chars>'],
  ['api_key', 'x'.repeat(40)],
  ['client_secret', '...'],
  ['secret', 'a word that is long, but nothing but words in a row'],
  ['privateKey', `0x${'0'.repeat(64)}`],
  ['tracking', '1Z999AA10123456784'],
  ['iban', 'DE89370400440532013000'],
  ['isbn', '978-3-16-148410-0'],
  ['ean', '4006381333931'],
  ['order', '4242424242424241'],
  ['ids', '1790000000123456789'],
]
