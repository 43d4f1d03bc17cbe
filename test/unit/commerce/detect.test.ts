import { describe, expect, it } from 'vitest'
import { analyse } from '../../../src/commerce/analysis.ts'
import { readMessage } from '../../../src/commerce/message.ts'
import type { Conflict } from '../../../src/commerce/ports.ts'
import { KINDS } from '../../data/commerce/kinds.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { change, encode, wire, type Change, type Plain, type SampleSource } from '../../support/commerce.ts'

const look = (source: SampleSource) => analyse(readMessage(wire(source))).detection
const base64 = (value: Plain) => encode({ $base64: value })
/** What a mark would encode, for headers that hold it twice. */
const encoded = (name: string, header: string) => {
  const source = SAMPLES[name]!.headers![header] as { [mark: string]: Plain }
  return Object.values(source)[0]!
}

describe('detection', () => {
  it.each(Object.entries(KINDS))(
    'recognises %s',
    (_name, { source, is, confidence = 'high', with: others = [] }) => {
      const { protocol, version, transport, stage, confidence: sure, layers, conflicts } = look(source)
      expect([protocol, version, transport, stage]).toEqual(is)
      expect(sure).toBe(confidence)
      expect(layers.map(({ name }) => name)).toEqual(protocol === 'unknown' ? others : [protocol, ...others])
      expect(conflicts).toEqual([])
      for (const layer of layers) expect(layer.evidence).not.toEqual([])
    },
  )

  it.each(Object.keys(KINDS).filter((name) => name.includes('does not decode')))(
    'says of %s that it cannot be decoded',
    (name) => {
      const { primary } = look(KINDS[name]!.source)
      expect(primary?.isUndecodable).toBe(true)
      expect(primary?.document).toBeUndefined()
    },
  )

  it.each(Object.entries(SAMPLES).filter(([name]) => !/^(?:ucp|acp)-get$/.test(name)))(
    'finds a document in %s, where it says that it is',
    (_name, source) => {
      const { primary } = look(source)
      expect(primary?.isUndecodable).toBe(false)
      expect(primary?.document?.at).toMatch(/^\/(?:headers|body)/)
    },
  )

  it('reads the version out of what is decoded, not out of the header name', () => {
    const payment = encoded('x402-v1', 'X-PAYMENT')
    const { version, conflicts } = look({
      target: 'https://shop.example/reports',
      headers: { 'PAYMENT-SIGNATURE': base64(payment) },
    })
    expect(version).toBe('1')
    expect(conflicts).toEqual([
      expect.objectContaining({ code: 'VERSION_CONFLICT', at: '/headers/PAYMENT-SIGNATURE#/x402Version' }),
    ])
  })

  it.each<[string, string, Change[], Conflict['code'], string]>([
    [
      'two x402 payments in one header',
      'x402-bare',
      [
        {
          op: 'set',
          at: '/headers/PAYMENT-SIGNATURE',
          value: [base64({ x402Version: 2 }), base64({ x402Version: 2 })],
        },
      ],
      'DUPLICATE_PAYMENT',
      '/headers/PAYMENT-SIGNATURE/1',
    ],
    [
      'a v1 payment beside a v2 payment',
      'x402-bare',
      [{ op: 'set', at: '/headers/X-PAYMENT', value: base64({ x402Version: 1 }) }],
      'DUPLICATE_PAYMENT',
      '/headers/X-PAYMENT',
    ],
    [
      'a payment in the header and another in the metadata',
      'x402-mcp',
      [{ op: 'set', at: '/headers/PAYMENT-SIGNATURE', value: base64({ x402Version: 2 }) }],
      'DUPLICATE_PAYMENT',
      '/body/params/_meta/x402~1payment',
    ],
    [
      'a payment in the metadata and another inside of the arguments',
      'x402-mcp',
      [
        {
          op: 'set',
          at: '/body/params/arguments/_meta',
          value: { 'x402/payment': { x402Version: 2, payload: {} } },
        },
      ],
      'DUPLICATE_PAYMENT',
      '/body/params/arguments/_meta/x402~1payment',
    ],
    [
      'another payment under a name that some servers read alike',
      'x402-bare',
      [{ op: 'set', at: '/headers/PAYMENT_SIGNATURE', value: base64({ x402Version: 2 }) }],
      'DUPLICATE_PAYMENT',
      '/headers/PAYMENT_SIGNATURE',
    ],
    [
      'another MPP credential under such a name',
      'mpp-get',
      [{ op: 'set', at: '/headers/Payment_Authorization', value: { $payment: { id: 'x', payload: {} } } }],
      'DUPLICATE_PAYMENT',
      '/headers/Payment_Authorization',
    ],
    [
      'two MPP credentials',
      'mpp-get',
      [{ op: 'set', at: '/headers/Payment-Authorization', value: { $payment: { id: 'x', payload: {} } } }],
      'DUPLICATE_PAYMENT',
      '/headers/Payment-Authorization',
    ],
    [
      'x402 and MPP at once',
      'x402-bare',
      [
        {
          op: 'set',
          at: '/headers/Authorization',
          value: { $payment: { challenge: { id: 'x' }, payload: {} } },
        },
      ],
      'DETECT-CONFLICT',
      '/headers/Authorization',
    ],
    [
      'two authorizations in one payment',
      'x402-bare',
      [{ op: 'set', at: '/headers/PAYMENT-SIGNATURE/$base64/payload/permit2Authorization', value: {} }],
      'DUPLICATE_PAYMENT',
      '/headers/PAYMENT-SIGNATURE#/payload',
    ],
    [
      'UCP and ACP at once',
      'acp-create',
      [{ op: 'set', at: '/headers/UCP-Agent', value: 'profile="https://platform.example/p"' }],
      'DETECT-CONFLICT',
      '/target',
    ],
    [
      'a key that is there twice',
      'acp-create',
      [{ op: 'set', at: '/headers/Idempotency-Key', value: ['one', 'two'] }],
      'HEADER_CONFLICT',
      '/headers/Idempotency-Key/1',
    ],
    [
      'a key in two spellings',
      'acp-create',
      [{ op: 'set', at: '/headers/idempotency-key', value: 'other' }],
      'HEADER_CONFLICT',
      '/headers/idempotency-key',
    ],
    [
      'another version in the header than in the metadata',
      'mcp-2026',
      [{ op: 'set', at: '/headers/MCP-Protocol-Version', value: '2025-11-25' }],
      'VERSION_CONFLICT',
      '/headers/MCP-Protocol-Version',
    ],
    [
      'a challenge that names its realm twice',
      'mpp-get',
      [{ op: 'set', at: '/headers/WWW-Authenticate', value: 'Payment id="a", realm="b", realm="c"' }],
      'HEADER_CONFLICT',
      '/headers/WWW-Authenticate',
    ],
  ])('tells of %s', (_what, name, changes, code, at) => {
    expect(look(change(SAMPLES[name]!, changes)).conflicts).toContainEqual({
      code,
      at,
      message: expect.stringMatching(/\.$/) as string,
    })
  })

  it.each<[string, SampleSource, Conflict['code'], string]>([
    [
      'an x402 payment',
      {
        target: 'https://shop.example/',
        headers: { 'X-PAYMENT': Buffer.from('{"x402Version":1,"payload":{"a":1,"a":2}}').toString('base64') },
      },
      'DUPLICATE_PAYMENT',
      '/headers/X-PAYMENT',
    ],
    [
      'an MPP credential',
      {
        target: 'https://shop.example/',
        headers: {
          Authorization: `Payment ${Buffer.from('{"id":"a","id":"b","payload":{}}').toString('base64')}`,
        },
      },
      'DUPLICATE_PAYMENT',
      '/headers/Authorization',
    ],
    [
      'a body',
      { target: 'https://shop.example/', body: '{"amount":1,"amount":2}' },
      'DETECT-CONFLICT',
      '/body',
    ],
  ])('tells of a member that %s names twice', (_what, source, code, at) => {
    expect(look(source).conflicts.map((conflict) => [conflict.code, conflict.at])).toEqual([[code, at]])
  })

  it('finds the payment in any message of a batch, and every further one', () => {
    const call = SAMPLES['x402-mcp']!.body!
    const other = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
    const one = look({ ...SAMPLES['x402-mcp']!, body: [other, call] })
    expect([one.protocol, one.stage, one.conflicts]).toEqual(['x402', 'payment', []])
    expect(one.primary?.document?.at).toBe('/body/1/params/_meta/x402~1payment')
    expect(look({ ...SAMPLES['x402-mcp']!, body: [call, call] }).conflicts.map(({ code }) => code)).toEqual([
      'DUPLICATE_PAYMENT',
    ])
  })

  it('reads 32 fields of one name, in whatever spelling, and says where it stopped', () => {
    const cookies = (count: number) => Array.from({ length: count }, (_, i) => `n=${i}`)
    const withCookies = (headers: Record<string, string[]>) => {
      const message = readMessage({ target: 'https://shop.example/', headers })
      const { conflicts } = analyse(message).detection
      return [message.headers.length, conflicts.map(({ code, at }) => [code, at])]
    }
    expect(withCookies({ Cookie: cookies(32) })).toEqual([32, []])
    expect(withCookies({ Cookie: cookies(40) })).toEqual([32, [['HEADER_CONFLICT', '/headers/Cookie/32']]])
    expect(withCookies({ COOKIE: cookies(20), cookie: cookies(20), other: cookies(1) })).toEqual([
      33,
      [['HEADER_CONFLICT', '/headers/cookie/12']],
    ])
  })

  it('takes a server that offers two ways to pay for what it is', () => {
    const { protocol, layers, conflicts } = look(
      change(SAMPLES['x402-challenge']!, [
        {
          op: 'set',
          at: '/headers/WWW-Authenticate',
          value: 'Payment id="a", realm="shop.example", method="card"',
        },
      ]),
    )
    expect([protocol, layers.map(({ name }) => name), conflicts]).toEqual(['x402', ['x402', 'mpp'], []])
  })
})
