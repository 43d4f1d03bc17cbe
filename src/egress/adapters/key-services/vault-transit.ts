// Vault's transit engine (and OpenBao's, which is the same), over its HTTP interface: HashiCorp has no client for JavaScript. It
// needs read on keys/<key> and update on encrypt/<key> and decrypt/<key>.
import { readFile, stat } from 'node:fs/promises'
import { Agent, request } from 'undici'
import { z } from 'zod'
import {
  KEY_SERVICE_CONNECTIONS,
  type KeyService,
  KeyServiceError,
  type KeyServiceFailure,
} from '../../authority/key-service.ts'
import { isPrivateToGroup } from '../../../lib/private-file.ts'
import { shellQuote } from '../../../lib/shell-quote.ts'
import { TIMEOUT_MS } from './limits.ts'

const MAX_ANSWER_BYTES = 64 * 1024
const Key = z.object({ data: z.object({ latest_version: z.int().positive(), type: z.string() }) })
const Encrypted = z.object({ data: z.object({ ciphertext: z.string() }) })
const Decrypted = z.object({ data: z.object({ plaintext: z.base64() }) })
/** Ciphers of transit that authenticate additional data. */
const AEADS = new Set(['aes256-gcm96', 'aes128-gcm96', 'chacha20-poly1305', 'xchacha20-poly1305'])

export interface VaultTransitOptions {
  readonly origin: string
  readonly mount: string
  readonly key: string
  /** Read anew for each request: an agent that renews the token writes it there. */
  readonly tokenFile: string
  readonly namespace?: string | undefined
  /** PEM of authorities that are trusted besides the default ones. */
  readonly ca?: string | undefined
}

export function openVaultTransit(options: VaultTransitOptions): KeyService {
  const { origin, mount, key, tokenFile, namespace } = options
  const name = `Vault transit (${origin}, ${mount}/keys/${key})`
  const kids = `vault-transit/${mount}/${key}:v`
  const agent = new Agent({
    connections: KEY_SERVICE_CONNECTIONS,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_ANSWER_BYTES,
    allowH2: false,
    connect: { timeout: TIMEOUT_MS, ...(options.ca !== undefined && { ca: options.ca }) },
  })
  const fail = (reason: KeyServiceFailure, code: string) => new KeyServiceError(reason, name, code)

  async function readToken(): Promise<string> {
    const rights = await stat(tokenFile).catch(() => undefined)
    if (rights && !isPrivateToGroup(rights))
      throw fail(
        'denied',
        `others may read the token, or more than its owner may write it: chmod 640 ${shellQuote(tokenFile)}`,
      )
    const text = await readFile(tokenFile, 'utf8').catch(() => '')
    if (text.trim() === '') throw fail('denied', `no token in ${tokenFile}`)
    return text.trim()
  }

  async function ask<T>(
    schema: z.ZodType<T>,
    path: string,
    body?: Readonly<Record<string, unknown>>,
  ): Promise<T> {
    const token = await readToken()
    let status: number
    let text: string
    try {
      const answer = await request(`${origin}/v1/${mount}/${path}`, {
        method: body ? 'POST' : 'GET',
        dispatcher: agent,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          'x-vault-token': token,
          'x-vault-request': 'true',
          ...(namespace !== undefined && { 'x-vault-namespace': namespace }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      status = answer.statusCode
      text = await answer.body.text()
    } catch (thrown) {
      throw fail('unreachable', codeOf(thrown))
    }
    if (status === 200) {
      const parsed = schema.safeParse(parseJson(text))
      if (parsed.success) return parsed.data
    }
    throw fail(reasonOf(status, path, text), `status ${status}`)
  }

  return {
    name,
    owns: (kid) => kid.startsWith(kids) && /^\d+$/.test(kid.slice(kids.length)),
    async newest() {
      const { data } = await ask(Key, `keys/${key}`)
      if (!AEADS.has(data.type))
        throw fail(
          'key_missing',
          `a key of type ${data.type} does not authenticate what a record is bound to`,
        )
      return `${kids}${data.latest_version}`
    },
    async encrypt(kid, plaintext, aad) {
      const version = Number(kid.slice(kids.length))
      const { data } = await ask(Encrypted, `encrypt/${key}`, {
        plaintext: plaintext.toString('base64'),
        associated_data: aad.toString('base64'),
        key_version: version,
      })
      const prefix = `vault:v${version}:`
      if (!data.ciphertext.startsWith(prefix)) throw fail('unreachable', 'encrypted under another version')
      return Buffer.from(data.ciphertext.slice(prefix.length), 'base64')
    },
    async decrypt(kid, ciphertext, aad) {
      const { data } = await ask(Decrypted, `decrypt/${key}`, {
        ciphertext: `vault:v${kid.slice(kids.length)}:${ciphertext.toString('base64')}`,
        associated_data: aad.toString('base64'),
      })
      return Buffer.from(data.plaintext, 'base64')
    },
    close: () => agent.close(),
  }
}

/** Vault says 400 for what cannot be opened and for a version that may not be used, and the words tell which. */
function reasonOf(status: number, path: string, text: string): KeyServiceFailure {
  if (status === 403) return 'denied'
  if (status === 404) return 'key_missing'
  if (status !== 400) return 'unreachable'
  if (/key not found|version (?:is )?(?:too old|not found)|disallowed by policy|no longer/i.test(text))
    return 'key_missing'
  return path.startsWith('decrypt/') ? 'refused' : 'key_missing'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : 'no answer'
