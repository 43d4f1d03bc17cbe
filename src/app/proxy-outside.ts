// The proxy's way to hosts that no credential is used for: the name is judged, resolved, each address classified, and one of them dialled.
import type { Duplex } from 'node:stream'
import { GatewayError } from '../core/errors.ts'
import type { Destination, Outside } from '../doors/proxy/ports.ts'
import type { AddressPolicy } from '../egress/address.ts'
import { dial, isVetted, openTcp } from '../egress/adapters/dial.ts'
import { createContexts } from '../egress/adapters/tls-context.ts'
import type { Resolver } from '../egress/ports.ts'
import { isLocalName } from '../egress/target.ts'
import { createTargets, type TargetParts } from '../outbound/targets.ts'

const RESOLVE_MS = 5_000
const CONNECT_MS = 10_000

export function createOutside(parts: {
  readonly resolver: Resolver
  readonly policy: AddressPolicy
  readonly checkHost: TargetParts['checkHost']
  /** PEM of authorities that outbound TLS trusts besides the default ones. */
  readonly extraCa: readonly string[] | undefined
}): Outside {
  // The sample site of the sandbox has no address, so only a credential leads there.
  const targets = createTargets({ ...parts, allowSandboxName: false })
  const contextOf = createContexts(parts.extraCa)

  async function addressesOf({ host }: Destination): Promise<readonly string[]> {
    const blocked = isLocalName(host)
      ? { reason: 'local_name', detail: 'Only names on the public internet can be called.' }
      : undefined
    return (await targets.resolve({ host, blocked }, RESOLVE_MS)).addresses
  }

  return {
    async connect(to): Promise<Duplex> {
      const addresses = await addressesOf(to)
      const signal = AbortSignal.timeout(CONNECT_MS)
      for (const address of addresses) {
        const socket = await openTcp(address, { port: to.port, signal })
        if (socket && isVetted(socket.remoteAddress, addresses)) return socket
        socket?.destroy()
      }
      throw unreachable(to, 'connect_failed')
    },
    async connectTls(to): Promise<Duplex> {
      const addresses = await addressesOf(to)
      const dialled = await dial({
        ...to,
        addresses,
        reach: parts.policy,
        secureContext: contextOf(undefined),
        signal: AbortSignal.timeout(CONNECT_MS),
      })
      if (dialled.ok) return dialled.socket
      throw unreachable(to, dialled.reason)
    },
  }
}

const unreachable = ({ host }: Destination, reason: string) =>
  new GatewayError(
    'upstream_unreachable',
    reason === 'tls_failed'
      ? `The certificate of ${host} is not good, so nothing was sent.`
      : `No connection to ${host} could be made.`,
    { reason },
  )
