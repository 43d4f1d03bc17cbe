// Hosts that look like others, and the ordinary hosts of the world beside them.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeLikeness, type Likeness } from '../../../src/commerce/look-alike.ts'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { change, type Change, type Plain, type SampleSource, wire } from '../../support/commerce.ts'

const ORDINARY = [
  'shop.example',
  'api.shop.example.com',
  'localhost',
  '192.0.2.1',
  'xn--bcher-kva.example',
  'bücher.example',
  'MÜNCHEN.example',
  'straße.de',
  'façade.fr',
  'señor.es',
  'łódź.pl',
  'ørsted.dk',
  'þórshöfn.is',
  'việtnam.vn',
  'ışık.com.tr',
  'čeština.cz',
  'пример.рф',
  'москва.com',
  'почта.рус',
  'оса.ru',
  'українська.ua',
  'σόφια.gr',
  'ωρα.gr',
  'ελλάδα.ευ',
  'հայաստան.am',
  'مثال.إختبار',
  'متجر.com',
  'نامه\u200cای.com',
  'דוגמה.co.il',
  'उदाहरण.परीक्षा',
  'ตัวอย่าง.ไทย',
  'น้ำ.ไทย',
  'ໄລຍະ.ລາວ',
  '例え.jp',
  'カフェ.jp',
  'ラーメンshop.jp',
  '例子.测试',
  'qq音乐.com',
  '한국.kr',
  'abc한국.kr',
  'შოპი.ge',
  'ሱቅ.et',
  'கடை.in',
  'shop中文.example',
  'thaiไทย.com',
  '例え。jp',
  'i❤.ws',
]

describe('a host', () => {
  it.each(ORDINARY)('is ordinary: %s', (host) => {
    expect(judgeLikeness(host)).toBeUndefined()
    expect(judgeLikeness(host, 'shop.example.org')).toBeUndefined()
    const { hostname = host } = URL.parse(`https://${host}/`) ?? {}
    expect(judgeLikeness(hostname)).toBeUndefined()
  })

  it.each<[Likeness, string]>([
    ['mixed', 'sh\u043Ep.example'],
    ['mixed', 'p\u0430ypal.com'],
    ['mixed', 'xn--pypal-4ve.com'],
    ['mixed', 'api.p\u0430ypal.com'],
    ['mixed', 'pay\u03C1al.com'],
    ['mixed', '\u0405HOP.example'],
    ['mixed', 'caf\u0435\u0301.fr'],
    ['mixed', 'пр\u03BFдажа.рф'],
    ['mixed', '%D1%81afe.example'],
    ['mixed', 'sh\u0585p.example'],
    ['mixed', '\u13DAhop.example'],
    ['dressed', '\uFF53hop.example'],
    ['dressed', '\uFF53\uFF48\uFF4F\uFF50.example'],
    ['dressed', '\u{1D5CC}hop.example'],
    ['dressed', 'of\uFB01ce.example'],
    ['dressed', '\u24E2hop.example'],
    ['hidden', 'sh\u200Bop.example'],
    ['hidden', 'sh\u00ADop.example'],
    ['hidden', 'shop\u200D.example'],
    ['hidden', '\u202Eshop.example'],
    ['whole', '\u0430\u0440\u0440\u04CF\u0435.com'],
    ['whole', 'xn--80ak6aa92e.com'],
    ['whole', '\u0441\u043E\u0441\u043E.example'],
    ['whole', '\u03BF\u03C1\u03B1.com'],
  ])('is %s: %s', (likeness, host) => {
    expect(judgeLikeness(host)).toBe(likeness)
  })

  it.each<[string, string, boolean]>([
    ['sh0p.example', 'shop.example', true],
    ['pay.sh0p.example', 'api.shop.example', true],
    ['exarnple.com', 'example.com', true],
    ['paypa1.com', 'paypal.com', true],
    ['paypai.com', 'paypal.com', true],
    ['vvidget.example', 'widget.example', true],
    ['clata.example', 'data.example', true],
    ['shöp.example', 'shop.example', true],
    ['\u0441\u043E\u0441\u043E.example', 'coco.example', true],
    ['b\u00FCcher.example', 'bucher.example', true],
    ['xn--bcher-kva.example', 'bucher.example', true],
    ['shop.example', 'shop.example', false],
    ['SHOP.example', 'shop.example', false],
    ['cl.shop.example', 'd.shop.example', false],
    ['shops.example', 'shop.example', false],
    ['xn--bcher-kva.example', 'bücher.example', false],
    ['bücher.example', 'xn--bcher-kva.example', false],
    ['10.0.0.1', '10.0.0.l', false],
  ])('%s looks like %s: %s', (host, target, isAlike) => {
    expect(judgeLikeness(host, target) === 'target').toBe(isAlike)
  })

  it('is judged whatever it holds, in time that grows with its length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.domain(), (host, target) => {
        judgeLikeness(host, target)
      }),
      { numRuns: 500 },
    )
  })
})

const PAID = '/headers/PAYMENT-SIGNATURE/$base64'
const ASKED = '/headers/PAYMENT-REQUIRED/$base64'
const set = (at: string, value: Plain): Change => ({ op: 'set', at, value })
const sample = (name: string, ...changes: Change[]): SampleSource => change(SAMPLES[name]!, changes)
const policy = toPolicy({ default: {}, accounts: {} }, undefined)
const judge = (source: SampleSource) =>
  inspectTransaction(wire(source), policy, 1_790_000_030_000).policy.reasons.filter(
    ({ code }) => code === 'LOOKALIKE_HOST',
  )

const PLACES: readonly (readonly [string, string, (host: string) => SampleSource])[] = [
  [
    'the target',
    '/target',
    (host) => ({ ...sample('x402-get'), target: `https://${host}/reports?year=2026` }),
  ],
  ['the target over A2A', '/target', (host) => ({ ...sample('x402-a2a'), target: `https://${host}/a2a` })],
  [
    'the resource of a payment',
    '/headers/PAYMENT-SIGNATURE#/resource/url',
    (host) => sample('x402-http', set(`${PAID}/resource/url`, `https://${host}/reports`)),
  ],
  [
    'the resource of an offer',
    '/headers/PAYMENT-REQUIRED#/resource/url',
    (host) => sample('x402-challenge', set(`${ASKED}/resource/url`, `https://${host}/reports`)),
  ],
  [
    'the recipient',
    '/headers/PAYMENT-REQUIRED#/accepts/0/payTo',
    (host) => sample('x402-challenge', set(`${ASKED}/accepts/0/payTo`, host)),
  ],
  [
    'the realm',
    '/headers/Authorization#/challenge/realm',
    (host) => sample('mpp-get', set('/headers/Authorization/$payment/challenge/realm', host)),
  ],
  ['Host', '/headers/Host', (host) => sample('x402-http', set('/headers/Host', host))],
  [
    'the profile',
    '/headers/UCP-Agent#/profile',
    (host) => sample('ucp-complete', set('/headers/UCP-Agent', `profile="https://${host}/.well-known/ucp"`)),
  ],
]

describe('a look-alike', () => {
  it.each(PLACES)('is denied in %s, and never ready', (_, at, make) => {
    for (const host of ['sh\u043Ep.example', '\uFF53hop.example']) {
      expect(judge(make(host))).toMatchObject([{ severity: 'deny', path: at }])
      expect(testTransaction(wire(make(host))).score).toBeLessThanOrEqual(40)
    }
  })

  it.each(PLACES)('is none in %s where the host is of one script', (_, __, make) => {
    for (const host of ['bücher.example', 'متجر.example', '例え.example'])
      expect(judge(make(host))).toEqual([])
  })

  it('is looked at where it may be a word of its language, and is not ready', () => {
    const host = '\u0441\u043E\u0441\u043E.example'
    const source = sample('x402-get', set(`${PAID}/resource/url`, `https://${host}/reports?year=2026`))
    const there = { ...source, target: `https://${host}/reports?year=2026` }
    expect(judge(there).map(({ severity }) => severity)).toEqual(['review', 'review'])
    expect(testTransaction(wire(there))).toMatchObject({ score: 60, level: 'at_risk' })
  })

  it('is looked at in an address of the body', () => {
    const source = sample('acp-create', set('/body/order_notes', 'https://sh\u043Ep.example/return'))
    expect(judge(source)).toMatchObject([{ severity: 'review', path: '/body/order_notes' }])
  })
})
