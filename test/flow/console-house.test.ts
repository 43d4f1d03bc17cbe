// Pages of the house that the lead of the gateway uses: its own keys, and what an account sells.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { hashToken } from '../../src/lib/tokens.ts'
import { signIn } from '../support/people.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway?.close())

interface Keys {
  readonly keys: readonly { readonly kid: string; readonly state: string; readonly reason: string | null }[]
}

describe('the keys of the gateway', () => {
  const path = '/console/gateway-keys'

  it('are rotated and revoked, with a reason that everybody reads', async () => {
    const owner = await signIn(gateway)
    const [old] = (await owner.data<Keys>(path)).keys
    const rotated = await owner.post(path, { _action: 'rotate_signing' })
    expect([rotated.status, rotated.headers.get('location')]).toEqual([303, `${path}?done=signing`])
    expect(await (await owner.get(`${path}?done=signing`)).text()).toContain('role="status"')
    await owner.post(path, { _action: 'revoke', kid: old!.kid, reason: 'stolen <with> a backup' })
    const { keys } = await owner.data<Keys>(path)
    expect(keys.find(({ kid }) => kid === old!.kid)).toMatchObject({
      state: 'revoked',
      reason: 'stolen <with> a backup',
    })
    expect(await (await owner.get(path)).text()).toContain('stolen &lt;with> a backup')
  })

  it('are not changed by a form that says no reason: what was typed stays, and why is said', async () => {
    const owner = await signIn(gateway)
    const { kid } = (await owner.data<Keys>(path)).keys[0]!
    const refused = await owner.post(path, { _action: 'revoke', kid, reason: '' })
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('role="alert"')
  })

  it('are read by an auditor of the installation and changed by none, and are nothing to other accounts', async () => {
    const auditor = await signIn(gateway, { role: 'auditor' })
    const html = await (await auditor.get(path)).text()
    expect(html).not.toContain('rotate_signing')
    const owner = await signIn(gateway)
    const page = await (await owner.get(path)).text()
    expect(page).toContain('rotate_signing')
    const other = await signIn(gateway, { role: 'owner', admin: false })
    expect((await other.get(path)).status).toBe(403)
  })
})

describe('what an account sells', () => {
  it('says where to begin while that is nothing', async () => {
    const seller = await signIn(gateway, { role: 'seller' })
    expect(await seller.data('/console/selling')).toMatchObject({ seller: null, may_change: true })
    expect(await (await seller.get('/console/selling')).text()).toContain('href="/marketplace/sell"')
  })

  it('is there with its hosts and what they have to show', async () => {
    const made = await gateway.rest(
      'POST',
      '/v1/marketplace/sellers',
      {
        seller: 'weather-house',
        name: 'Weather <House>',
        payout_address: '0x00000000000000000000000000000000000acade',
      },
      '',
    )
    expect([made.status, made.body.detail]).toEqual([201, undefined])
    const key = made.body.key as string
    await gateway.rest('POST', '/v1/marketplace/seller/hosts', { origin: 'https://api.example.com' }, key)
    const accountId = (await gateway.store.findKey(hashToken(key)))!.accountId
    const seller = await signIn(gateway, { role: 'seller', accountId })
    const { hosts } = await seller.data<{ hosts: { origin: string; dns: { value: string } }[] }>(
      '/console/selling',
    )
    expect(hosts.map(({ origin }) => origin)).toEqual(['https://api.example.com'])
    const html = await (await seller.get('/console/selling')).text()
    expect(html).toContain(hosts[0]!.dns.value)
    expect(html).toContain('Weather &lt;House>')
    expect((await seller.get('/console/credentials')).status).toBe(403)
  })
})
