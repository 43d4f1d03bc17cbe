// The REST door on a real socket, over services that a test chooses: for what the door itself decides.
import { hideNames } from '../../src/commerce/secrets/places.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCallPath } from '../../src/core/call.ts'
import { loadConfig } from '../../src/app/config.ts'
import { readSkills } from '../../src/app/skills.ts'
import { createDocuments } from '../../src/documents/index.ts'
import { servedSkills } from '../../src/documents/skills.ts'
import { httpContext } from '../../src/doors/http/request.ts'
import { createRestDoor } from '../../src/doors/rest/index.ts'
import type { DoorParts } from '../../src/doors/parts.ts'
import { createSite } from '../../src/doors/site/index.ts'
import { createProviders } from '../../src/egress/providers/index.ts'
import { createRateLimiter } from '../../src/core/rate-limit.ts'
import { createLogger } from '../../src/lib/log.ts'
import { descriptors } from '../../src/outcomes/descriptors.ts'
import { type AnyTool, createRegistry } from '../../src/core/registry.ts'
import type { Services } from '../../tools/services.ts'
import type { Signer } from '../../src/receipts/ports.ts'
import type { ServiceKey, Store } from '../../src/store/ports.ts'
import { hashToken } from '../../src/lib/tokens.ts'
import { tools as productTools } from '../../tools/index.ts'
import { deriveKey } from './derive-key.ts'
import { noCredits, noGate } from './no-gate.ts'
import { noIdentity } from './no-identity.ts'

export interface Harness {
  readonly baseUrl: string
  close(): Promise<void>
}

/** @param options.keys service keys that authenticate */
export async function startRestHarness(
  options: {
    tools?: readonly AnyTool[]
    services?: Partial<Services>
    marketplace?: DoorParts['marketplace']
    store?: Partial<Store>
    keys?: Readonly<Record<string, ServiceKey>>
    env?: Record<string, string>
    now?: () => number
  } = {},
): Promise<Harness> {
  let handle: Parameters<typeof createServer>[1]
  const server = createServer((req, res) => handle!(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = loadConfig({ GATEWAY_RATE_LIMIT: '0', GATEWAY_LOG_LEVEL: 'silent', ...options.env })
  const addresses = { baseUrl, siteUrl: baseUrl, mcpUrl: `${baseUrl}/mcp` }
  const registry = createRegistry(options.tools ?? productTools)
  const documents = createDocuments({
    registry,
    addresses,
    config,
    capabilities: descriptors,
    providers: createProviders().list(),
  })
  const byHash = new Map(
    Object.entries(options.keys ?? {}).map(([token, key]) => [hashToken(token).toString('hex'), key]),
  )
  const store = {
    findKey: async (hash: Buffer) => byHash.get(hash.toString('hex')),
    findCapability: async () => undefined,
    listPublishedKeys: async () => [],
    ...options.store,
  } as unknown as Store
  const log = createLogger('silent')
  const services = { documents, ...options.services } as Services
  const calls = createCallPath({
    services,
    gate: noGate,
    ...noCredits,
    store,
    limiter: createRateLimiter(config.rateLimit),
    hideNames,
    log,
    now: options.now ?? Date.now,
  })
  const signer: Signer = { kid: 'none', environment: 'sandbox', sign: () => '' }
  const parts = {
    registry,
    calls,
    payments: noGate,
    config,
    addresses,
    documents,
    services,
    identity: noIdentity,
    refusals: { refused: async () => {} },
    ...(options.marketplace && { marketplace: options.marketplace }),
    skills: servedSkills(await readSkills(), registry),
    store,
    signer,
    deriveKey,
    log,
    now: options.now ?? Date.now,
  }
  const door = createRestDoor(parts, createSite(parts))
  handle = (req, res) => void door.http(req, res, httpContext(req, 0))
  return {
    baseUrl,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
