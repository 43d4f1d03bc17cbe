// Answers as the APIs of providers give them, with everything in them that looks like a secret and is none: ids, digests, tokens of pages,
// signed links, keys that are public, tokens of somebody else, vectors of numbers, pictures in base64, dumps and logs. Which of them
// comes is decided by the number of the answer, so that a run can be repeated from its seed.
import { createCipheriv, createHash } from 'node:crypto'
import { deflateSync, gzipSync } from 'node:zlib'

/** Bytes that look random and are the same at every run. */
export interface Random {
  bytes(length: number): Buffer
  below(limit: number): number
  pick<T>(items: readonly [T, ...T[]]): T
}

/** Drawn at once: a call for each few bytes would take longer than what is made of them. */
const BLOCK_BYTES = 1 << 16

/** The stream of AES under a key of the seed: good enough to stand for keys. */
export function createRandom(seed: string): Random {
  const stream = createCipheriv('aes-256-ctr', createHash('sha256').update(seed).digest(), Buffer.alloc(16))
  let block = Buffer.alloc(0)
  function bytes(length: number): Buffer {
    if (block.length < length)
      block = Buffer.concat([block, stream.update(Buffer.alloc(Math.max(BLOCK_BYTES, length)))])
    const taken = block.subarray(0, length)
    block = block.subarray(length)
    return taken
  }
  const below = (limit: number) => bytes(4).readUInt32LE(0) % limit
  return { bytes, below, pick: (items) => items[below(items.length)] ?? items[0] }
}

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789'
const textOf = (random: Random, length: number, alphabet: string) =>
  Array.from(random.bytes(length), (byte) => alphabet[byte % alphabet.length]).join('')

/** A secret as providers make them. */
export function randomSecret(random: Random): { readonly secret: string; readonly scheme: string } {
  const alphanumeric = (length: number) => textOf(random, length, ALPHANUMERIC)
  const bearer = (secret: string) => ({ secret, scheme: 'Bearer' })
  switch (random.below(14)) {
    case 0:
      return bearer(`ghp_${alphanumeric(36)}`)
    case 1:
      return bearer(`github_pat_${alphanumeric(22)}_${alphanumeric(59)}`)
    case 2:
      return bearer(`sk_live_51${alphanumeric(15)}${alphanumeric(82)}`)
    case 3:
      return bearer(
        `sk-proj-${random.bytes(60).toString('base64url')}T3BlbkFJ${random.bytes(60).toString('base64url')}`,
      )
    case 4:
      return bearer(`sk-ant-api03-${random.bytes(70).toString('base64url')}`)
    case 5:
      return bearer(`xoxb-${1e11 + random.below(1e9)}-${1e12 + random.below(1e9)}-${alphanumeric(24)}`)
    case 6:
      return bearer(random.bytes(16).toString('hex'))
    case 7:
      return bearer(random.bytes(32).toString('hex').toUpperCase())
    case 8:
      return bearer(random.bytes(32).toString('base64'))
    case 9:
      return bearer(formatUuid(random))
    case 10: {
      const pair = `AC${random.bytes(16).toString('hex')}:${random.bytes(16).toString('hex')}`
      return { secret: Buffer.from(pair).toString('base64'), scheme: 'Basic' }
    }
    case 11:
      return bearer(jsonWebToken(random))
    case 12:
      return bearer(textOf(random, 12 + random.below(8), LOWER))
    default:
      return bearer(textOf(random, 40, `${ALPHANUMERIC}!#$%&()*+-;<=>?@^_{|}~/`))
  }
}

const formatUuid = (random: Random) =>
  random
    .bytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

function jsonWebToken(random: Random): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    iss: 'https://issuer.example.com',
    sub: `user_${random.below(1e6)}`,
    aud: 'api',
    iat: 1_700_000_000 + random.below(1e7),
  }
  return `${part({ alg: 'RS256', typ: 'JWT', kid: 'key-1' })}.${part(claims)}.${random.bytes(256).toString('base64url')}`
}

const WORDS =
  'the a of and to in for is on that by this with you it not or be are from at as your all have new more an was we will home can us about if page my ' +
  'has search free but our one other do no information time they site he up may what which their news out use any there see only so his when contact ' +
  'here business who web also now help get view online first been would how were services some these click its like service production database password ' +
  'secret token key account customer payment invoice subscription repository commit branch issue request response error timeout retry limit quota'
const words = WORDS.split(' ')
const sentence = (random: Random, length: number) =>
  Array.from({ length }, () => words[random.below(words.length)] ?? '').join(' ')
const list = <T>(random: Random, most: number, make: (i: number) => T) =>
  Array.from({ length: 1 + random.below(most) }, (_, i) => make(i))
const stamp = (random: Random) => new Date(1_600_000_000_000 + random.below(2 ** 31) * 60).toISOString()

const kinds: readonly [(random: Random) => unknown, ...((random: Random) => unknown)[]] = [
  (random) =>
    list(random, 12, (i) => ({
      id: 1e8 + random.below(1e9),
      node_id: Buffer.from(`010:Repository${random.below(1e9)}`).toString('base64'),
      full_name: `octocat/${words[random.below(words.length)]}-${i}`,
      html_url: `https://github.com/octocat/hello-${i}/tree/main/src?tab=readme&page=${i}#L10`,
      git_url: `git:github.com/octocat/hello-${i}.git`,
      sha: random.bytes(20).toString('hex'),
      body: `${sentence(random, 60)}\r\n\r\n\`\`\`\n$ git log --oneline\n${random.bytes(4).toString('hex')} ${sentence(random, 5)}\n\`\`\``,
      created_at: stamp(random),
    })),
  (random) => ({
    object: 'list',
    url: '/v1/charges',
    has_more: true,
    data: list(random, 8, () => ({
      id: `ch_${textOf(random, 24, ALPHANUMERIC)}`,
      account: `acct_1${textOf(random, 15, ALPHANUMERIC)}`,
      amount: random.below(1e6),
      client_secret: `pi_${textOf(random, 24, ALPHANUMERIC)}_secret_${textOf(random, 25, ALPHANUMERIC)}`,
      payment_method_details: { card: { fingerprint: textOf(random, 16, ALPHANUMERIC), last4: '4242' } },
      receipt_url: `https://pay.stripe.com/receipts/payment/${random.bytes(60).toString('base64url')}?s=ap`,
    })),
  }),
  (random) => ({
    object: 'list',
    model: 'text-embedding-3-small',
    data: [{ index: 0, embedding: list(random, 300, () => (random.below(2 ** 31) - 2 ** 30) / 2 ** 31) }],
  }),
  (random) => ({
    id: `chatcmpl-${textOf(random, 29, ALPHANUMERIC)}`,
    choices: [
      {
        message: {
          role: 'assistant',
          content: `${sentence(random, 120)}\n\n\`\`\`ts\nconst key = process.env["API_KEY"] ?? '\\u0041'\n\`\`\``,
        },
      },
    ],
    system_fingerprint: `fp_${random.bytes(5).toString('hex')}`,
  }),
  (random) => ({
    ok: true,
    members: list(random, 10, () => ({
      id: `U${textOf(random, 10, ALPHANUMERIC.toUpperCase())}`,
      team_id: 'T0123456789',
      ts: `${1.6e9 + random.below(1e8)}.${random.below(1e6)}`,
    })),
    response_metadata: { next_cursor: Buffer.from(`user:U${random.below(1e9)}`).toString('base64') },
  }),
  (random) => ({
    access_token: `gho_${textOf(random, 36, ALPHANUMERIC)}`,
    id_token: jsonWebToken(random),
    refresh_token: random.bytes(48).toString('base64url'),
    expires_in: 3600,
  }),
  (random) => ({
    keys: list(random, 3, (i) => ({
      kty: 'RSA',
      kid: `key-${i}`,
      n: random.bytes(256).toString('base64url'),
      e: 'AQAB',
      x5c: [random.bytes(700).toString('base64')],
    })),
  }),
  (random) => ({
    content: random
      .bytes(900 + random.below(3000))
      .toString('base64')
      .replaceAll(/.{60}/g, '$&\n'),
    encoding: 'base64',
    size: 3000,
  }),
  (random) => ({
    text: Buffer.from(sentence(random, 200)).toString('base64'),
    html: `<p class="a&amp;b">${sentence(random, 40)} &lt;b&gt; &#39;x&#39; &copy; 2026</p>`,
    css: '.icon::before{content:"\\f101\\20"}',
  }),
  (random) => ({
    data: [...random.bytes(300)],
    hex: [...random.bytes(64)].map((byte) => `0x${byte.toString(16)}`).join(', '),
    type: 'Buffer',
  }),
  (random) =>
    list(random, 30, () => ({
      id: formatUuid(random),
      trace: random.bytes(16).toString('hex'),
      span: random.bytes(8).toString('hex'),
      duration_ns: random.below(1e9),
      message: `GET /v1/${words[random.below(words.length)]}?q=${encodeURIComponent(sentence(random, 4))}&t=%2Fa%2Fb 200`,
    })),
  (random) => ({
    url: `https://bucket.s3.amazonaws.com/a%20b/${formatUuid(random)}?X-Amz-Credential=ASIA${textOf(random, 16, ALPHANUMERIC.toUpperCase())}%2F20261122%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Signature=${random.bytes(32).toString('hex')}`,
    event: gzipSync(JSON.stringify({ log: sentence(random, 80) })).toString('base64'),
    snapshot: deflateSync(random.bytes(200)).toString('base64'),
  }),
  (random) => ({
    api_key: `sk-...${textOf(random, 4, ALPHANUMERIC)}`,
    masked: `${textOf(random, 4, ALPHANUMERIC)}****************${textOf(random, 4, ALPHANUMERIC)}`,
    token_last_eight: textOf(random, 8, ALPHANUMERIC),
    hashed_token: random.bytes(32).toString('base64'),
  }),
  (random) => ({
    nested: JSON.stringify({
      payload: JSON.stringify({
        text: sentence(random, 30),
        sha: random.bytes(32).toString('hex'),
        emoji: '\ud83d\ude00',
        path: 'C:\\new\\table\\users',
      }),
    }),
  }),
]

/** @returns the body of an answer: JSON, most of the time as APIs write it, sometimes printed; a line of events, a picture, a page */
export function ordinaryAnswer(random: Random): Buffer {
  const value = random.pick(kinds)(random)
  switch (random.below(12)) {
    case 0:
      return Buffer.from(JSON.stringify(value, null, 2))
    case 1:
      return Buffer.from(`event: message\ndata: ${JSON.stringify(value)}\n\n`)
    case 2:
      return Buffer.concat([
        Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
        random.bytes(500 + random.below(4000)),
      ])
    case 3:
      return Buffer.from(
        `<!doctype html><title>${sentence(random, 4)}</title><script>window.__DATA__=${JSON.stringify(value).replaceAll('<', '\\u003c')}</script>`,
      )
    case 4:
      return gzipSync(JSON.stringify(value))
    default:
      return Buffer.from(JSON.stringify(value))
  }
}
