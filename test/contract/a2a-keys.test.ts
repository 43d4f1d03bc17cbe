// The key behind the agent card, found by a client that knows nothing but the card's address.
import { AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { importJWK, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const CARD = '/.well-known/agent-card.json'

/** What a careful client does: keys only from the origin that served the card. */
const keyFrom =
  (origin: string, asked: string[] = []) =>
  async (kid: string, jku = '') => {
    asked.push(jku)
    if (new URL(jku).origin !== origin) throw new Error(`keys of another origin: ${jku}`)
    const { keys } = (await (await fetch(jku)).json()) as { keys: JWK[] }
    const key = keys.find((one) => one.kid === kid)
    if (!key) throw new Error(`no key ${kid}`)
    return (await importJWK(key, 'EdDSA')) as Exclude<Awaited<ReturnType<typeof importJWK>>, Uint8Array>
  }

describe('the signatures of the agent card', () => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway()
    // The SDK tells of each signature that is over another form of the card.
    vi.spyOn(console, 'debug').mockImplementation(() => {})
  })
  afterAll(async () => {
    vi.restoreAllMocks()
    await gw.close()
  })

  const card = async (headers: Record<string, string> = {}) =>
    (await (await fetch(gw.baseUrl + CARD, { headers })).json()) as AgentCard

  it.each(['1.0', '0.3', undefined])('lead to the published keys (A2A-Version %s)', async (version) => {
    const asked: string[] = []
    const served = await card(version === undefined ? {} : { 'a2a-version': version })
    for (const { protected: head } of served.signatures)
      expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toMatchObject({
        jku: `${gw.baseUrl}/.well-known/jwks.json`,
      })
    if (version !== '1.0') return
    await verifyAgentCardSignature(keyFrom(gw.baseUrl, asked))(served)
    expect(asked).toContain(`${gw.baseUrl}/.well-known/jwks.json`)
    await expect(
      verifyAgentCardSignature(keyFrom(gw.baseUrl))({ ...served, name: 'Another' }),
    ).rejects.toThrow('No valid signatures')
  })

  it('verify in either form that the SDK holds a card in: as it came, and decoded', async () => {
    const served = await card({ 'a2a-version': '1.0' })
    const decoded = AgentCard.fromJSON(served)
    const verify = verifyAgentCardSignature(keyFrom(gw.baseUrl))
    await verify(served)
    await verify(decoded)
    await expect(verify({ ...decoded, name: 'Another' })).rejects.toThrow('No valid signatures')
  })

  it('verify in the SDK client, and for the card under a new key, too', async () => {
    const verify = verifyAgentCardSignature(keyFrom(gw.baseUrl))
    const client = await new ClientFactory().createFromUrl(gw.baseUrl)
    const serviceParameters = { authorization: `Bearer ${gw.operatorKey}` }
    expect((await client.getAgentCard({ serviceParameters }, verify)).name).toBe('Agent Gateway')
    const before = await card({ 'a2a-version': '1.0' })
    expect((await gw.rest('POST', '/v1/signing-keys/rotate', {})).status).toBeLessThan(300)
    const after = await card({ 'a2a-version': '1.0' })
    expect(after.signatures[0]?.protected).not.toBe(before.signatures[0]?.protected)
    // A card that a client kept is still one of ours.
    await verify(before)
    await verify(after)
  })
})
