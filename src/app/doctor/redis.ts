// Redis or Valkey, where one is configured. Without it the gateway goes on through its database: nothing here is a failure.
import { probeRedis, type RedisFailure } from '../../store/redis/probe.ts'
import { type Check, ok, warn } from './finding.ts'

/** A second is between two exchanges, and one that takes half of it is given up. */
const SLOW_MS = 100
const MEANWHILE = 'Meanwhile replicas share their limits through PostgreSQL.'

/** Connects as the gateway does, and says how far away it is or why it cannot be used. */
export const checkRedis: Check = async ({ config: { redisUrl } }) => {
  if (redisUrl === undefined) return []
  const place = placeOf(redisUrl)
  const found = await probeRedis(redisUrl)
  if (!found.ok) {
    const { says, todo } = WORDS[found.failure]
    const code = found.code === undefined ? '' : ` (${found.code})`
    return [warn('redis', `${place}: ${says}${code}`, `${todo} ${MEANWHILE}`)]
  }
  const { product = 'a server that does not say its version', roundTripMs, isReplica } = found
  const says = `${place}: ${product}, ${roundTripMs < 1 ? 'less than 1' : Math.round(roundTripMs)} ms away`
  if (isReplica)
    return [
      warn('redis', `${says}, a copy of another server`, `Name the server that takes writes. ${MEANWHILE}`),
    ]
  if (roundTripMs >= SLOW_MS)
    return [
      warn(
        'redis',
        `${says}, which is far`,
        'Take one nearer: processes tell each other of limits once a second, and what takes half of that is given up.',
      ),
    ]
  return [ok('redis', says)]
}

/** Without user and password. */
function placeOf(url: string): string {
  const { protocol, hostname, port, pathname } = new URL(url)
  return `${protocol}//${hostname}:${port || 6379}${pathname}`
}

const WORDS: Readonly<Record<RedisFailure, { readonly says: string; readonly todo: string }>> = {
  nobody_listens: { says: 'nobody listens there', todo: 'Start it, or correct GATEWAY_REDIS_URL.' },
  unknown_host: { says: 'that name has no address', todo: 'Correct the host in GATEWAY_REDIS_URL.' },
  password_wrong: {
    says: 'it refuses the user or the password',
    todo: 'Correct them in GATEWAY_REDIS_URL (redis://USER:PASSWORD@HOST); signs such as @ and / are written with %.',
  },
  password_missing: {
    says: 'it asks for a password, and GATEWAY_REDIS_URL has none',
    todo: 'Put it into GATEWAY_REDIS_URL: redis://:PASSWORD@HOST.',
  },
  password_unexpected: {
    says: 'it has no password, and GATEWAY_REDIS_URL has one',
    todo: 'Look whether it is the right server: set `requirepass` there, or remove the password here.',
  },
  permission_missing: {
    says: 'its user may not run scripts on keys {agent-gateway}:rates:*',
    todo: 'Allow it: ACL SETUSER … ~{agent-gateway}:* +@all.',
  },
  database_missing: {
    says: 'it has no database of this number',
    todo: 'Correct the number behind the host in GATEWAY_REDIS_URL.',
  },
  certificate_untrusted: {
    says: 'its certificate is not trusted',
    todo: 'Name the authority that issued it in NODE_EXTRA_CA_CERTS, or the host as the certificate has it in GATEWAY_REDIS_URL.',
  },
  tls_failed: {
    says: 'the TLS handshake failed',
    todo: 'rediss:// is for a port that speaks TLS; for another one it is redis://.',
  },
  closed: {
    says: 'it closes the connection',
    todo: 'A port that speaks TLS needs rediss://, and one that does not redis://; else the log of the server says why.',
  },
  silent: {
    says: 'it does not answer',
    todo: 'Look whether a firewall is between, whether it hangs, and for rediss:// whether that port speaks TLS.',
  },
  other: { says: 'it cannot be used', todo: 'Look whether it is Redis or Valkey, and into its log.' },
}
