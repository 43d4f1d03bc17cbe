// Composition of the gateway's own proxy: who a program is, what it holds, and where the door listens.
import { chmod } from 'node:fs/promises'
import type { Server } from 'node:http'
import { authenticate, type AuthenticationStore } from '../core/authenticate.ts'
import { PER_MINUTE } from '../core/call.ts'
import { ConfigError, GatewayError } from '../core/errors.ts'
import { createRateLimiter, type RateState } from '../core/rate-limit.ts'
import { httpContext } from '../doors/http/request.ts'
import type { DoorParts } from '../doors/parts.ts'
import { createProxyDoor } from '../doors/proxy/index.ts'
import type { ObserveProxy, ProxyDoorParts, ProxyWatch } from '../doors/proxy/ports.ts'
import { createRelayedCalls } from '../doors/relayed-call.ts'
import type { OpenEgress } from '../egress/index.ts'
import { createStreamLimits } from '../egress/relay/streams.ts'
import { coversHost } from '../egress/scope.ts'
import { openInstallationAuthority } from '../interception/roots.ts'
import type { Logger } from '../lib/log.ts'
import type { Store } from '../store/ports.ts'
import { listenAt, listenAtPath, type Listening } from './acceptors.ts'
import type { Lifetime } from './lifetime.ts'
import type { Platform } from './platform.ts'
import { createOutside } from './proxy-outside.ts'
import { clearSocketPath } from './socket-path.ts'

const CONNECTIONS_PER_MINUTE = 1_200
/** Connections open: a tunnel is two, and may be silent for ten minutes. */
const MOST_OPEN = { inAll: 2048, ofAccount: 1024, ofCapability: 256 }
const RENEW_MS = 6 * 3_600_000

/** The operator's egress policy, and the limit that people set while the gateway runs. */
export interface ProxyRules {
  readonly checkHost: OpenEgress['checkHost']
  readonly callsPerMinute: () => number | undefined
  readonly watchRevocation: OpenEgress['watchRevocation']
}

/**
 * @returns where it listens on loopback; undefined where no port is configured
 * @throws {ConfigError} where it cannot listen at what is configured
 * @throws {GatewayError} where another process listens there
 */
export async function openProxy(
  platform: Platform,
  parts: Pick<DoorParts, 'calls' | 'addresses' | 'refusals'> &
    ProxyRules & { readonly observe: ObserveProxy | undefined },
  lifetime: Lifetime,
): Promise<string | undefined> {
  const { config, store, log, now } = platform
  const { port, socket, unknown } = config.proxy
  if (port === undefined && socket === undefined) return undefined
  const authority = await openInstallationAuthority({
    documents: platform.documents,
    key: platform.deriveKey('interception-roots'),
    now,
  })
  lifetime.onClose(renewEvery(RENEW_MS, () => authority.renew(), log))
  const relayed = createRelayedCalls(parts)
  const limiter = createRateLimiter(parts.callsPerMinute, platform.rates?.of('proxy'))
  const places = createStreamLimits(MOST_OPEN, 'connections open')

  /**
   * A refused token belongs to nobody, so what it costs to refuse it is counted on the address it came from. That is the same for all programs
   * of this machine, and holds nothing against those whose token is good.
   */
  const refuse = (address: string) => async (thrown: unknown) => {
    if (!(thrown instanceof GatewayError)) throw thrown
    const rate = await limiter.take('gateway.proxy.refused', address, PER_MINUTE.anonymous)
    throw rate?.exceeded
      ? rateLimited(rate, 'Too many refused tokens in a minute. Use the capability that the operator issued.')
      : thrown
  }

  const record: ProxyDoorParts['record'] = ({ agent, token, address, host, requestId, error }) =>
    parts.refusals.refused({
      caller: agent?.caller,
      tokens: { bearer: token },
      address,
      door: 'proxy',
      tool: 'gateway.proxy.connect',
      requestId,
      input: { url: `https://${host}` },
      // A token that is no good is a sign-in that failed, whatever the program is told.
      error: agent === undefined && error.cause instanceof GatewayError ? error.cause : error,
    })

  const identify: ProxyDoorParts['identify'] = async (token, address) => {
    if (token === undefined)
      throw new GatewayError(
        'proxy_identity_required',
        'Put the capability that the operator issued into the address of the proxy: http://agent:agw_cap_…@host:port.',
      )
    const caller = await identifyAgent(store, token, now(), address).catch(refuse(address))
    const { id, capability } = caller
    const rate = await limiter.take('gateway.proxy.connect', capability.rootId, CONNECTIONS_PER_MINUTE)
    if (rate?.exceeded) throw rateLimited(rate, 'Too many connections with this capability in a minute.')
    return {
      id,
      caller,
      unknown,
      async covers(host, at) {
        const parted =
          capability.parts ?? (capability.credentialId === null ? await store.findParts(id) : [capability])
        return parted.some(({ scope }) => scope.hosts.some((entry) => coversHost(entry, host, at)))
      },
      relay: (req, res, url, upgrade) =>
        relayed.relay({ req, res, context: httpContext(req, 0), target: { url }, token, upgrade }),
      enter: () => places.enter(capability.accountId, capability.rootId),
      watchRevocation: () => parts.watchRevocation(id, capability.expiresAt),
    }
  }

  const open = async <B extends Listening>(listen: (server: Server) => Promise<B>): Promise<B> => {
    const door = createProxyDoor({
      identify,
      authority,
      outside: createOutside({ ...platform, checkHost: parts.checkHost }),
      targets: { ports: config.egressPorts, allowSandboxName: platform.isSandbox },
      watch: logPassages(log),
      record,
      observe: parts.observe,
      baseUrl: parts.addresses.baseUrl,
      now,
    })
    const listening = await listen(door.server)
    lifetime.onClose(async () => {
      const gone = listening.close()
      await door.close()
      await gone
    })
    return listening
  }
  if (socket !== undefined) {
    await clearSocketPath('GATEWAY_PROXY_SOCKET', socket)
    await open((server) => listenAtPath(server, socket)).catch(
      cannotListen(
        'GATEWAY_PROXY_SOCKET',
        `at ${socket}`,
        'its folder has to be there, and open to this user',
      ),
    )
    await chmod(socket, 0o600)
  }
  if (port === undefined) return undefined
  const bound = await open((server) =>
    listenAt(server, { port, host: '127.0.0.1', mode: config.mode }),
  ).catch(
    cannotListen(
      'GATEWAY_PROXY_PORT',
      `on port ${port} of 127.0.0.1`,
      'choose another, or 0 for any free one',
    ),
  )
  return `http://127.0.0.1:${bound.port}`
}

/** The words for a start that fails speak of PORT, which has nothing to do with it. What is taken may be free in a moment. */
const cannotListen =
  (variable: string, where: string, advice: string) =>
  (thrown: unknown): never => {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined
    if (code === undefined) throw thrown
    const words = `${variable}: nothing can listen ${where} (${code}): ${advice}`
    throw code === 'EADDRINUSE' ? new GatewayError('state_conflict', words) : new ConfigError([words])
  }

const rateLimited = ({ resetSeconds }: RateState, what: string) =>
  new GatewayError('rate_limited', `${what} Try again in ${resetSeconds} s.`, {
    extras: { retry_after_seconds: resetSeconds },
  })

/**
 * A token that is no good is no reason to ask for one again: programs would send the same in a circle.
 * @throws {GatewayError} scope_denied with the words of the refusal
 */
async function identifyAgent(
  store: AuthenticationStore & Pick<Store, 'findParts'>,
  token: string,
  now: number,
  address: string,
) {
  try {
    const caller = await authenticate('capability', { bearer: token }, { store, now, address })
    if (caller.kind === 'agent') return caller
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    throw new GatewayError('scope_denied', thrown.message, { reason: thrown.code, cause: thrown })
  }
  throw new GatewayError('scope_denied', 'A proxy takes the capability of an agent.', {
    reason: 'not_an_agent',
  })
}

const logPassages = (log: Logger): ProxyWatch => ({
  passed: ({ agentId, host, port, way, requests, bytesUp, bytesDown }) =>
    log.info(
      { agent: agentId, host, port, way, requests, bytes_up: bytesUp, bytes_down: bytesDown },
      'proxy connection ended',
    ),
  refused: ({ agentId, host, code, reason }) =>
    log.info({ agent: agentId, host, code, reason }, 'proxy refused'),
})

function renewEvery(everyMs: number, renew: () => Promise<void>, log: Logger): () => void {
  const timer = setInterval(() => {
    renew().catch((err: unknown) =>
      log.error({ err }, 'the roots of the proxy could not be renewed; it is tried again'),
    )
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
