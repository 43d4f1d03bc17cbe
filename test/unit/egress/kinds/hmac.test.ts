import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { CredentialKind, type KindOf } from '../../../../schemas/credential-kinds.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { signHmac } from '../../../../src/egress/kinds/hmac.ts'
import type { RequestToSign } from '../../../../src/egress/kinds/kind.ts'
import { completeParts } from '../../../../src/egress/kinds/rules.ts'

type Hmac = KindOf<'hmac'>
const partsOf = (texts: Record<string, string>) =>
  new Map(Object.entries(texts).map(([name, text]) => [name, new Secret(text)]))

function sign(
  kind: Omit<Hmac, 'type'>,
  texts: Record<string, string>,
  request: Partial<RequestToSign> & { url: URL },
  now: number,
  nonce = 'n0nce',
) {
  const checked = CredentialKind.parse({ type: 'hmac', ...kind }) as Hmac
  const { secret } = completeParts(partsOf(texts), { kind: checked }, { ports: [443] })
  return signHmac(
    checked,
    secret,
    { method: 'GET', headers: [], body: undefined, ...request },
    now,
    () => nonce,
  )
}

describe('a signature by template', () => {
  it('signs a query for Binance (the example of its manual, with its parameters in the query)', () => {
    const query =
      'symbol=LTCBTC&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=0.1&recvWindow=5000&timestamp=1499827319559'
    const [asked] = query.split('&timestamp=')
    const signed = sign(
      {
        algorithm: 'sha256',
        encoding: 'hex',
        timestamp: 'milliseconds',
        message: '{query}{body}',
        headers: { 'x-mbx-apikey': '{part.api_key}' },
        query: { timestamp: '{timestamp}', signature: '{signature}' },
      },
      {
        key: 'NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j',
        api_key: 'vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A',
      },
      { method: 'POST', url: new URL(`https://api.binance.com/api/v3/order?${asked}`) },
      1499827319559,
    )
    expect(signed.value).toBe('c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71')
    expect(signed.url?.search).toBe(`?${query}&signature=${signed.value}`)
    expect(signed.headers).toEqual([
      ['x-mbx-apikey', 'vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A'],
    ])
  })

  it('signs a header of the request, however its name is written in the template', () => {
    const of = (message: string) =>
      sign(
        { algorithm: 'sha256', encoding: 'hex', message, headers: { 'x-signature': '{signature}' } },
        { key: 'k'.repeat(32) },
        { url: new URL('https://api.example.com/'), headers: [['content-type', 'text/plain']] },
        0,
      ).value
    expect(of('{header.Content-Type}')).toBe(of('text/plain'))
    expect(of('{header.content-type}')).toBe(of('text/plain'))
  })

  it('signs path and hashed body for Kraken (the example of its manual)', () => {
    const nonce = '1616492376594'
    const body = Buffer.from(`nonce=${nonce}&ordertype=limit&pair=XBTUSD&price=37500&type=buy&volume=1.25`)
    const signed = sign(
      {
        algorithm: 'sha512',
        encoding: 'base64',
        key_encoding: 'base64',
        prehash: '{form.nonce}{body}',
        message: '{path}{prehash}',
        headers: { 'api-key': '{part.api_key}', 'api-sign': '{signature}' },
      },
      {
        key: 'kQH5HW/8p1uGOVjbgWA7FunAmGO8lsSUXNsu3eow76sz84Q18fWxnyRzBHCd3pd5nE9qa99HAZtuZuj6F1huXg==',
        api_key: 'public-api-key',
      },
      { method: 'POST', url: new URL('https://api.kraken.com/0/private/AddOrder'), body },
      0,
    )
    expect(signed.headers).toContainEqual([
      'api-sign',
      '4/dpxb3iT4tp/ZCVEwSnEsLxx0bqyhLpdfOpc6fn7OR8+UClSV5n9E6aSS8MPtnRfp32bAb0nmbRn6H8ndwLUQ==',
    ])
  })

  it('signs a message for Slack (the example of its manual)', () => {
    const body = Buffer.from(
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    )
    const signed = sign(
      {
        algorithm: 'sha256',
        encoding: 'hex',
        message: 'v0:{timestamp}:{body}',
        headers: { 'x-slack-request-timestamp': '{timestamp}', 'x-slack-signature': 'v0={signature}' },
      },
      { key: '8f742231b10e8888abcd99yyyzzz85a5' },
      { method: 'POST', url: new URL('https://hooks.example.com/in'), body },
      1531420618_000,
    )
    expect(signed.headers).toEqual([
      ['x-slack-request-timestamp', '1531420618'],
      ['x-slack-signature', 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503'],
    ])
  })

  it('signs a webhook of the Standard Webhooks specification (its example)', () => {
    const signed = sign(
      {
        algorithm: 'sha256',
        encoding: 'base64',
        key_encoding: 'base64',
        key_prefix: 'whsec_',
        message: '{nonce}.{timestamp}.{body}',
        headers: {
          'webhook-id': '{nonce}',
          'webhook-timestamp': '{timestamp}',
          'webhook-signature': 'v1,{signature}',
        },
      },
      { key: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      {
        method: 'POST',
        url: new URL('https://example.com/webhook'),
        body: Buffer.from('{"test": 2432232314}'),
      },
      1614265330_000,
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
    )
    expect(signed.headers).toContainEqual([
      'webhook-signature',
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    ])
  })

  it('signs bytes of a body that are no text, and the ISO time that OKX wants', () => {
    const body = Buffer.from([0xff, 0x00, 0x80])
    const now = Date.parse('2020-12-08T09:08:57.715Z')
    const signed = sign(
      {
        algorithm: 'sha256',
        encoding: 'base64',
        timestamp: 'iso8601',
        message: '{timestamp}{method}{target}{body}',
        headers: { 'ok-access-sign': '{signature}', 'x-digest': '{body_sha256}' },
      },
      { key: 'a-secret-key-of-okx' },
      { method: 'PUT', url: new URL('https://www.okx.com/api/v5/x?a=1'), body },
      now,
    )
    const expected = createHmac('sha256', 'a-secret-key-of-okx')
      .update('2020-12-08T09:08:57.715ZPUT/api/v5/x?a=1')
      .update(body)
      .digest('base64')
    expect(signed.headers).toEqual([
      ['ok-access-sign', expected],
      ['x-digest', createHash('sha256').update(body).digest('hex')],
    ])
  })

  it('refuses a query that brings what the signature adds', () => {
    const kind = {
      algorithm: 'sha256',
      encoding: 'hex',
      message: '{query}',
      query: { signature: '{signature}' },
    } as const
    const to = (query: string) =>
      sign(kind, { key: 'a-secret-key' }, { url: new URL(`https://a.example.com/?${query}`) }, 0)
    expect(() => to('signature=mine')).toThrow('Leave the parameter signature out')
    expect(to('signatures=mine').value).toHaveLength(64)
  })

  const basis = { algorithm: 'sha256', encoding: 'hex', headers: { 'x-s': '{signature}' } } as const
  it.each([
    ['{bdy}', /\/settings\/kind\/message: the template has \{bdy\}/],
    ['{signature}', /is not known there yet/],
    ['{header}', /write \{header\.NAME\}/],
    ['{part.key}', /would send the key itself/],
    ['{part.other}', /names the part other, which is not stored/],
    ['a{b', /brace that belongs to no placeholder/],
    ['{constructor}', /has \{constructor\}/],
  ])('refuses the template %s when it is stored', (message, words) => {
    expect(() =>
      sign({ ...basis, message }, { key: 'a-secret-key' }, { url: new URL('https://a.example.com/') }, 0),
    ).toThrow(words)
  })

  it.each([
    [
      { ...basis, headers: { 'x-s': 'nothing' }, message: '{body}' },
      'a-secret-key',
      /has to carry \{signature\}/,
    ],
    [
      { ...basis, headers: { host: '{signature}' }, message: '{body}' },
      'a-secret-key',
      /sets this header itself/,
    ],
    [{ ...basis, key_encoding: 'hex', message: '{body}' } as const, 'no hex at all', /the key is not hex/],
    [{ ...basis, key_prefix: 'whsec_', message: '{body}' }, 'a-secret-key', /does not begin with whsec_/],
  ])('refuses what could never be signed (%#)', (kind, key, words) => {
    expect(() => sign(kind, { key }, { url: new URL('https://a.example.com/') }, 0)).toThrow(words)
  })
})
