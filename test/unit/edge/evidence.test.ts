import { describe, expect, it } from 'vitest'
import { type EvidenceFacts, signEvidence } from '../../../src/edge/evidence.ts'
import { SANDBOX_HOST } from '../../../src/egress/target.ts'

const NOW = 1_800_000_000_000

function attest(host: string, addresses: readonly string[]): Readonly<Record<string, unknown>> {
  let signed: unknown
  signEvidence(
    {
      signer: { kid: 'k', environment: 'production', sign: (_typ, payload) => ((signed = payload), 'jws') },
      baseUrl: 'https://gw.example.net',
      edgeName: 'gw.example.net',
      now: () => NOW,
    },
    {
      requestId: 'req_1',
      attempt: { id: 'att_1', host, method: 'POST', requestDigest: 'asked', idempotencyKey: 'key' },
      bodyDigest: 'sent',
      consent: { accountToken: 'token', recordDigest: 'record' },
      inspection: { protocols: [], findings: [] },
      completed: {
        response: { status: 200, body: Buffer.from('body') },
        receipt: { id: 'rcp_1' },
        responseDigest: 'answered',
        contentDigest: 'content',
        addresses,
      },
      times: { startedAt: NOW - 30, consentedAt: NOW - 20, sentAt: NOW - 15 },
    } as unknown as EvidenceFacts,
  )
  return signed as Readonly<Record<string, unknown>>
}

describe('evidence', () => {
  it.each<[string, string, readonly string[], string]>([
    ['public addresses', 'shop.example.com', ['93.184.215.14', '2606:4700::1111'], 'public'],
    ['one that was opened among them', 'shop.example.com', ['93.184.215.14', '10.0.0.1'], 'opened_private'],
    ['the sample site', SANDBOX_HOST, ['127.0.0.1'], 'sandbox'],
  ])('says where it went: %s', (_what, host, addresses, expected) => {
    expect(attest(host, addresses)['address_class']).toBe(expected)
  })

  it('tells one answer of the DNS from the next of the same host', () => {
    const told = [['93.184.215.14'], ['10.0.0.1'], ['93.184.215.15']].map(
      (addresses) => attest('shop.example.com', addresses)['address_class'],
    )
    expect(told).toEqual(['public', 'opened_private', 'public'])
  })

  it('takes the digests from the attempt and counts the time of each part', () => {
    expect(attest('shop.example.com', ['93.184.215.14'])).toMatchObject({
      request_digest: 'asked',
      request_content_digest: 'sent',
      response_digest: 'answered',
      response_content_digest: 'content',
      response_bytes: 4,
      timings_ms: { consent: 10, reserve: 5, exchange: 15, total: 30 },
    })
  })
})
