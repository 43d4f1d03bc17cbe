// How far the live call of the first page has come, as its list of steps is told.
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { LiveCallProps, Progress } from '../../../src/doors/site/components/home/live.ts'
import { runFree, runPaid } from '../../../src/doors/site/components/home/run-call.ts'
import { home } from '../../../src/doors/site/texts/home.ts'
import { proof } from '../../../src/doors/site/texts/proof.ts'

const props: LiveCallProps = {
  api: '',
  baseUrl: 'http://127.0.0.1:8402',
  wallet: undefined,
  paid: { method: 'POST', path: '/v1/tools/web.fetch', body: {} },
  free: { method: 'POST', path: '/v1/execute', body: { intent: 'demo' } },
  amount: '0.001',
  language: 'en',
  texts: home.en.live,
  proofTexts: proof.en,
  receiptPage: '/receipts/{id}',
  problemPage: '/problems/{code}',
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })
const required = { accepts: [{ amount: '1000', network: 'eip155:8453', payTo: '0x1' }] }
const priced = () => json(402, {}, { 'payment-required': btoa(JSON.stringify(required)) })
const problem = (status: number, code: string) => json(status, { code, title: 'Title', detail: 'Detail' })

afterEach(() => vi.restoreAllMocks())

async function run(how: typeof runFree, answers: Response[], change: Partial<LiveCallProps> = {}) {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => answers.shift() ?? json(599, {}))
  const told: Progress[] = []
  await how({ ...props, ...change }, (progress) => told.push(progress))
  return { told, last: told.at(-1), ats: told.map(({ at }) => at) }
}

describe('without a wallet', () => {
  it('the sample is the result, and the price of the paid call stands beside it', async () => {
    const { last } = await run(runFree, [json(200, { ok: true }), priced()])
    expect(Object.keys(last?.steps ?? {}).toSorted()).toEqual(['answered', 'asked', 'priced'])
    expect(last?.outcome).toMatchObject({ ok: true, status: 200 })
    expect(last?.failed).toBeUndefined()
  })

  it('a price that cannot be told is a failure of that line alone', async () => {
    const { last } = await run(runFree, [json(200, { ok: true }), problem(503, 'payments_unavailable')])
    expect(last?.outcome?.ok).toBe(true)
    expect(last?.failed).toMatchObject({ at: 'priced', problem: { code: 'payments_unavailable' } })
  })

  it('a sample that fails ends it', async () => {
    const { last } = await run(runFree, [problem(429, 'rate_limited')])
    expect(last?.failed).toMatchObject({ at: 'answered', problem: { code: 'rate_limited' } })
    expect(last?.steps.priced).toBeUndefined()
  })
})

describe('with a wallet', () => {
  const wallet = '/site/test-payment'
  const signed = () => json(200, { payment_signature: 'p', payer: '0x2' })

  it('each line is under way until its step has ended', async () => {
    const { ats, last } = await run(runPaid, [priced(), signed(), json(200, { receipt: null })], { wallet })
    expect([...new Set(ats)]).toEqual(['priced', 'paid', 'answered'])
    expect(last?.failed).toBeUndefined()
  })

  it.each<[string, Response[], string]>([
    ['before the price', [problem(403, 'target_blocked')], 'answered'],
    ['at the wallet', [priced(), problem(429, 'rate_limited')], 'paid'],
    ['after the payment', [priced(), signed(), problem(402, 'settlement_failed')], 'answered'],
  ])('what fails %s is said on its line', async (_, answers, at) => {
    const { last } = await run(runPaid, answers, { wallet })
    expect(last?.failed?.at).toBe(at)
  })
})
