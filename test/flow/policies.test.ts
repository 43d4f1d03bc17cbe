// Policies over REST: read, tried, changed and remembered, while the files are edited by hand, too.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signIn, type TestPerson } from '../support/people.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'

let gateway: TestGateway
let clock = 0
beforeAll(async () => {
  gateway = await startTestGateway({
    env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' },
    now: () => Date.now() + clock,
  })
})
afterAll(() => gateway?.close())

const fileOf = (policy: string) => join(gateway.dataDir, 'data', `${policy}-policy.json`)
const read = async (policy = 'egress') => (await gateway.rest('GET', `/v1/policies/${policy}`)).body
const put = (body: object, policy = 'egress') => gateway.rest('POST', `/v1/policies/${policy}`, body)
const check = (text: string, policy = 'egress') =>
  gateway.rest('POST', `/v1/policies/${policy}/check`, { text })
const wordsOf = ({ statements }: { statements: { text: string }[] }) => statements.map(({ text }) => text)

describe('a policy', () => {
  it('is changed whole, from the next request on, by who read what stood there', async () => {
    const { capability } = await gateway.grant()
    const before = await read()
    expect(wordsOf(before)).toContain('No host is denied to everybody: capabilities alone decide.')
    const text = `{\n  "denied_hosts": ["${UPSTREAM_HOST}"]\n}\n`
    const written = await put({ text, revision: before.revision, note: 'reported' })
    expect([written.status, written.body.text]).toEqual([200, text])
    expect(await readFile(fileOf('egress'), 'utf8')).toBe(text)
    await new Promise((resolve) => setTimeout(resolve, 300))
    const refused = await gateway.fetch(capability, { url: gateway.url('/ok') })
    expect([refused.status, refused.body.code]).toEqual([403, 'target_blocked'])

    // Whoever read the text before it is told, and loses nothing.
    const late = await put({ text: '{}', revision: before.revision })
    expect([late.status, late.body.code]).toEqual([409, 'state_conflict'])
    expect(await readFile(fileOf('egress'), 'utf8')).toBe(text)
  })

  it('remembers who wrote what, and what was edited by hand', async () => {
    await writeFile(fileOf('egress'), '{"denied_hosts": []}')
    const { revision } = await read()
    await put({ text: '{"denied_hosts": ["a.example"]}', revision, note: 'again' })
    const { body } = await gateway.rest('GET', '/v1/policies/egress/history')
    expect(body.revisions).toMatchObject([
      { way: 'here', by: { kind: 'service_key' }, note: 'again' },
      { way: 'by_hand', by: { kind: 'gateway', id: null }, note: '' },
      { way: 'here', note: 'reported' },
    ])
    const one = await gateway.rest('GET', `/v1/policies/egress/history/${body.revisions[0].revision_id}`)
    expect(one.body).toMatchObject({
      before: '{"denied_hosts": []}',
      after: '{"denied_hosts": ["a.example"]}\n',
    })
    const audit = await gateway.rest('GET', '/v1/audit/events?of=installation&limit=100')
    const changes = audit.body.events.filter((event: { event: string }) => event.event === 'policy.changed')
    expect(changes.at(-1)).toMatchObject({
      actor: { kind: 'service_key', tool: 'gateway.policies.update' },
      subject: { id: 'egress-policy' },
    })
    expect((await gateway.rest('GET', '/v1/policies/egress/history/prv_nothing')).status).toBe(404)
  })

  it('says what is wrong where somebody broke it by hand, and is repaired here', async () => {
    await writeFile(fileOf('egress'), '{"denied_hosts": ["a.example"],}')
    const broken = await read()
    expect(broken.problems[0].message).toMatch(/^the text is not JSON/)
    const text = '{"denied_hosts": ["b.example"]}'
    expect((await put({ text, revision: broken.revision })).status).toBe(200)
    expect((await read()).problems).toEqual([])
  })

  it.each([
    ['{"denied_hosts": "a.example"}', '/denied_hosts'],
    ['{"denied": []}', ''],
    ['{"paused": true, "paused": false}', ''],
    ['[]', ''],
  ])('refuses %s, with the place', async (text, pointer) => {
    const { body } = await check(text)
    expect([body.problems[0].pointer, body.dry_run]).toEqual([pointer, null])
    const refused = await put({ text, revision: (await read()).revision })
    expect([refused.status, refused.body.code]).toEqual([400, 'input_invalid'])
  })

  it('is for the administrator alone, and no model', async () => {
    const { body } = await gateway.rest('POST', '/v1/keys', { label: 'another', account: 'new' })
    for (const path of ['/v1/policies', '/v1/policies/egress', '/v1/policies/egress/history'])
      expect([path, (await gateway.rest('GET', path, undefined, body.key)).status]).toEqual([path, 403])
    const listed = await gateway.rest('POST', '/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
      params: {},
    })
    expect(listed.text).not.toContain('gateway_policies')
  })
})

describe('a dry run', () => {
  it('judges the last requests by the new text, and says what it cannot judge', async () => {
    const { revision } = await read()
    await put({ text: '{}', revision })
    await new Promise((resolve) => setTimeout(resolve, 300))
    const { capability } = await gateway.grant()
    await gateway.fetch(capability, { url: gateway.url('/ok') })
    const balance = await gateway.balance()
    const { body } = await check(`{"denied_hosts": ["example.com"]}`)
    expect(wordsOf(body)[1]).toContain('No request reaches example.com')
    const { dry_run } = body
    expect(dry_run.changes[0]).toMatchObject({
      what: `GET ${UPSTREAM_HOST}`,
      before: { verdict: 'allow' },
      after: { verdict: 'deny', reasons: ['denied_host'] },
    })
    expect(dry_run.counts.deny).toBe(dry_run.judged)
    expect(dry_run.gaps.map(({ code }: { code: string }) => code)).toContain('refused_before')
    expect(await gateway.balance()).toBe(balance)
    // What this policy refused before is judged, too: it would go out again.
    expect(dry_run.judged).toBe(2)
    expect((await check('{"paused": true}')).body.dry_run.changes[0].after.reasons).toEqual(['paused'])
  })

  it('explains what every account may pay, and what one of them differs in', async () => {
    const text = JSON.stringify({
      default: { caps: [{ currency: 'usd', max: '500' }], require_key: true },
      accounts: { acct_1: { allowed_recipients: [] }, acct_2: { halted: true } },
    })
    const words = wordsOf((await check(text, 'transaction')).body)
    expect(words).toContain('*: at most 500 units of USD in one payment.')
    expect(words).toContain('*: a transaction without an idempotency key is denied.')
    expect(words.filter((line) => line.startsWith('acct_1'))).toEqual(['acct_1: nobody may be paid.'])
    expect(words.filter((line) => line.startsWith('acct_2'))).toHaveLength(1)
    expect(wordsOf((await check('{}', 'transaction')).body)[1]).toMatch(/^\*: the \d+ stablecoins that/)
    expect((await check('{"paused": true}', 'payment')).body.statements[0].code).toBe('payments_paused')
  })
})

describe('the page of a policy', () => {
  const PATH = '/console/policies/payment'
  const edit = (person: TestPerson, form: Record<string, string>) =>
    person.post(PATH, { _action: 'edit', note: '', ...form })
  const revision = async () => (await read('payment')).revision as string

  it('tries a text without effect, puts it in force, and shows who did', async () => {
    const owner = await signIn(gateway, { name: 'Sarah <b>' })
    const before = await read('payment')
    const text = '{\r\n  "denied_payers": ["0x00000000000000000000000000000000deadbeef"]\r\n}'
    const tried = await (await edit(owner, { do: 'try', text, revision: before.revision })).text()
    expect(tried).toContain('Nothing is taken from 0x00000000000000000000000000000000deadbeef.')
    expect(tried).toContain('Nothing was changed by trying it.')
    expect((await read('payment')).text).toBe(before.text)

    const note = '<script>alert(1)</script>'
    const saved = await edit(owner, { do: 'save', text, note, revision: before.revision })
    expect(saved.headers.get('location')).toBe(`${PATH}?done=saved`)
    expect((await read('payment')).text).toBe(`${text.replaceAll('\r', '')}\n`)
    const html = await (await owner.get(`${PATH}?done=saved`)).text()
    for (const shown of ['Sarah &lt;b>', '&lt;script>alert(1)', 'in force from the next call on'])
      expect(html).toContain(shown)
    const [, id = ''] = /\?revision=(prv_\w+)#change/.exec(html) ?? []
    expect(await (await owner.get(`/ar${PATH}?revision=${id}`)).text()).toMatch(
      /class="diff-new">\+.*deadbeef/,
    )
    expect(await (await owner.get(`${PATH}?from=${id}`)).text()).toContain('deadbeef&quot;]\n}')
    const words = await (await owner.get('/ar/console/policies')).text()
    expect(words).toContain('لا يُؤخذ شيء من')
  })

  it('loses nothing where somebody else was faster, and takes nobody for having read what they did not see', async () => {
    const owner = await signIn(gateway)
    const seen = await revision()
    await put({ text: '{"known_payees": ["0xother"]}', revision: seen }, 'payment')
    const mine = '{"known_payees": ["0xmine"]}'
    const wrong = await (await edit(owner, { do: 'save', text: '{', revision: seen })).text()
    expect(wrong).toContain(`name="revision" value="${seen.replaceAll('&', '&amp;')}"`)
    const late = await edit(owner, { do: 'save', text: mine, revision: seen })
    const html = await late.text()
    expect(late.status).toBe(409)
    expect([html.includes('0xmine'), html.includes('0xother')]).toEqual([true, true])
    expect((await read('payment')).text).toContain('0xother')
    expect(html).toContain(`name="revision" value="${await revision()}"`)
  })

  it('is for administrators who have just shown that it is them', async () => {
    const owner = await signIn(gateway)
    const text = '{"paused": true}'
    clock = 6 * 60_000
    const refused = await edit(owner, { do: 'save', text, revision: await revision() })
    expect([refused.status, (await refused.text()).includes('&quot;paused&quot;: true')]).toEqual([403, true])
    clock = 0
    const auditor = await signIn(gateway, { role: 'auditor' })
    expect((await edit(auditor, { do: 'save', text, revision: await revision() })).status).toBe(403)
    const { body } = await gateway.rest('POST', '/v1/keys', { label: 'another', account: 'new' })
    const stranger = await signIn(gateway, { accountId: body.account_id, admin: false })
    for (const path of ['/console/policies', PATH])
      expect([path, (await stranger.get(path)).status]).toEqual([path, 403])
    expect((await owner.get('/console/policies/nonsense')).status).toBe(404)
    expect((await read('payment')).text).not.toContain('paused')
  })
})
