// Asks Redis once what the gateway asks of it, and changes nothing there. What went wrong is told by a word of this list: messages of the
// driver and of the server may quote what they were given.
import { performance } from 'node:perf_hooks'
import {
  ConnectionTimeoutError,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
  TimeoutError,
} from '@redis/client'
import { createRedisClient, keyOf } from './client.ts'

export type RedisFailure =
  | 'nobody_listens'
  | 'unknown_host'
  | 'password_wrong'
  | 'password_missing'
  | 'password_unexpected'
  | 'permission_missing'
  | 'database_missing'
  | 'certificate_untrusted'
  | 'tls_failed'
  | 'closed'
  | 'silent'
  | 'other'

export type RedisProbe =
  | {
      readonly ok: true
      /** Such as `Redis 7.0.15`; undefined where the server does not say. */
      readonly product: string | undefined
      /** Of a PING, the middle one of several, in milliseconds. */
      readonly roundTripMs: number
      /** Whether it takes no writes, being the copy of another one. */
      readonly isReplica: boolean
    }
  | { readonly ok: false; readonly failure: RedisFailure; readonly code: string | undefined }

const PINGS = 5
/** A server may take a connection and say nothing. */
const DEADLINE_MS = 5000
/** Reads by a script, as limits do. */
const READ = `return redis.call('HGETALL', KEYS[1])`

type Client = ReturnType<typeof createRedisClient>

/** Never throws. */
export async function probeRedis(url: string): Promise<RedisProbe> {
  let client: Client | undefined
  let timer: NodeJS.Timeout | undefined
  try {
    client = createRedisClient(url, false)
    // What it says of a failure is what `connect` says.
    client.on('error', () => {})
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new ConnectionTimeoutError()), DEADLINE_MS)
    })
    return await Promise.race([ask(client), late])
  } catch (thrown) {
    return { ok: false, ...describe(thrown) }
  } finally {
    clearTimeout(timer)
    if (client?.isOpen) client.destroy()
  }
}

async function ask(client: Client): Promise<RedisProbe> {
  await client.connect()
  const tookMs: number[] = []
  for (let i = 0; i < PINGS; i++) {
    const asked = performance.now()
    await client.ping()
    tookMs.push(performance.now() - asked)
  }
  await client.eval(READ, { keys: [keyOf('doctor')] })
  // Who may not ask this may do all that the gateway needs.
  const info = await client.info().catch(() => '')
  return {
    ok: true,
    product: productOf(info),
    roundTripMs: tookMs.toSorted((a, b) => a - b)[Math.floor(PINGS / 2)] ?? 0,
    isReplica: fieldOf(info, 'role') === 'slave',
  }
}

const fieldOf = (info: string, name: string): string | undefined =>
  new RegExp(String.raw`^${name}:([\w.-]{1,40})\r?$`, 'm').exec(info)?.[1]

function productOf(info: string): string | undefined {
  const valkey = fieldOf(info, 'valkey_version')
  if (valkey !== undefined) return `Valkey ${valkey}`
  const redis = fieldOf(info, 'redis_version')
  return redis === undefined ? undefined : `Redis ${redis}`
}

/** What a reply of the server begins with, or has in it. */
const REPLIES: readonly (readonly [reply: RegExp, failure: RedisFailure])[] = [
  [/^WRONGPASS\b/, 'password_wrong'],
  [/^NOAUTH\b/, 'password_missing'],
  [/without any password configured/, 'password_unexpected'],
  [/^NOPERM\b/, 'permission_missing'],
  [/DB index is out of range/, 'database_missing'],
]

const CODES: Readonly<Record<string, RedisFailure>> = {
  ECONNREFUSED: 'nobody_listens',
  ENOENT: 'nobody_listens',
  ENOTFOUND: 'unknown_host',
  EAI_AGAIN: 'unknown_host',
  ECONNRESET: 'closed',
  ETIMEDOUT: 'silent',
  EHOSTUNREACH: 'silent',
  ENETUNREACH: 'silent',
}

const OF_CERTIFICATES =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_ALTNAME_INVALID)/
const OF_TLS = /^(?:ERR_SSL_|ERR_TLS_|EPROTO$)/

/** Errors of the driver, which have no codes. */
const TIMEOUTS = [ConnectionTimeoutError, SocketTimeoutError, TimeoutError]

function describe(thrown: unknown): { readonly failure: RedisFailure; readonly code: string | undefined } {
  if (!(thrown instanceof Error)) return { failure: 'other', code: undefined }
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
  return { failure: failureOf(thrown, code), code }
}

function failureOf(error: Error, code: string | undefined): RedisFailure {
  if (code !== undefined) {
    if (OF_CERTIFICATES.test(code)) return 'certificate_untrusted'
    if (OF_TLS.test(code)) return 'tls_failed'
    return CODES[code] ?? 'other'
  }
  if (error instanceof SocketClosedUnexpectedlyError) return 'closed'
  if (TIMEOUTS.some((kind) => error instanceof kind)) return 'silent'
  return REPLIES.find(([reply]) => reply.test(error.message))?.[1] ?? 'other'
}
