// Somebody else's facilitator over HTTP.
import type { SupportedKind } from '../../../schemas/x402.ts'
import { findV1Network } from '../../core/networks.ts'
import type { Upstream, UpstreamRequest } from '../ports.ts'
import type { Networks } from '../../core/networks.ts'
import { createExchanger } from './facilitator-exchange.ts'
import { quirksOf, readSettlement, readSupported, readVerdict, toRequestBody } from './facilitator-wire.ts'

export interface HttpUpstreamOptions {
  /** Base URL. Its path may hold a key. */
  readonly url: string
  /** As callers and receipts name it; its host where it is left out. */
  readonly id?: string | undefined
  readonly networks: Networks
  /** PEM of authorities trusted besides the default ones. */
  readonly ca?: readonly string[] | undefined
  readonly now: () => number
}

const VERIFY_MS = 5_000
const SETTLE_MS = 30_000

/** @returns a name for each, of its host alone; those of one host after the first have a number */
export function nameFacilitators(urls: readonly string[]): string[] {
  const count = new Map<string, number>()
  return urls.map((url) => {
    const { host } = new URL(url)
    const number = (count.get(host) ?? 0) + 1
    count.set(host, number)
    return number === 1 ? host : `${host}#${number}`
  })
}

export function createHttpUpstream({ url: base, id: name, networks, ca }: HttpUpstreamOptions): Upstream {
  const { host, origin, pathname } = new URL(base)
  const path = pathname.replace(/\/+$/, '')
  const id = name ?? host
  const quirks = quirksOf(host)
  const exchange = createExchanger(ca)
  const endpoint = (name: string) => new URL(`${path}/${name}`, base)
  let kinds: readonly SupportedKind[] = []

  /** The payment's own version where it is taken, else the one that is. */
  function versionFor({ payment }: UpstreamRequest): 1 | 2 {
    const taken = kinds.filter(
      (kind) =>
        kind.scheme === payment.scheme && (findV1Network(kind.network) ?? kind.network) === payment.network,
    )
    const isTaken = (version: 1 | 2) => taken.some(({ x402Version }) => x402Version === version)
    const other = payment.x402Version === 1 ? 2 : 1
    return !isTaken(payment.x402Version) && isTaken(other) ? other : payment.x402Version
  }

  const post = (name: 'verify' | 'settle', request: UpstreamRequest, deadlineMs: number) =>
    request.payment.wire.use((wire) =>
      exchange({
        url: endpoint(name),
        method: 'POST',
        body: toRequestBody(wire, request.requirements, {
          version: versionFor(request),
          v1Name: networks.find(request.payment.network)?.v1Name,
          resourceUrl: request.payment.resourceUrl,
          quirks,
        }),
        deadlineMs: Math.max(1, Math.min(deadlineMs, request.deadlineMs)),
      }),
    )

  return {
    id,
    url: origin,
    // The price of a facilitator is agreed outside of the protocol.
    feeAtomic: 0n,
    async supported(deadlineMs) {
      const result = await exchange({ url: endpoint('supported'), method: 'GET', deadlineMs })
      if (result.kind !== 'answer') throw new Error(`${id}: ${result.kind}, ${result.reason}`)
      if (result.status !== 200) throw new Error(`${id}: status ${result.status}`)
      const supported = readSupported(result.body)
      kinds = supported.kinds
      return supported
    },
    verify: async (request) => readVerdict(await post('verify', request, VERIFY_MS), request, id),
    settle: async (request) => readSettlement(await post('settle', request, SETTLE_MS), request),
    async close() {},
  }
}
