import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PermitSummary } from '../../../schemas/actions.ts'
import { MAX_LISTED_BODY_BYTES, readSummary, writeSummary } from '../../../src/actions/summary.ts'
import { sanitiseLines, sanitiseText } from '../../../src/actions/sanitised-text.ts'
import { prepareRequest } from '../../../src/egress/request.ts'
import { sealedCredential } from '../../support/store.ts'

function summaryOf(
  body: Buffer | undefined,
  changes: { method?: string; label?: string; purpose?: string } = {},
  as: 'whole' | 'listed' = 'whole',
) {
  const request = prepareRequest(
    {
      url: 'https://api.example.com/v1/things?a=1',
      method: changes.method ?? 'POST',
      headers: { 'content-type': 'text/plain' },
      ...(body && { body_base64: body.toString('base64') }),
    },
    { ports: [443], defaultHeaders: {} },
  )
  const credential = sealedCredential('acct_1', { label: changes.label ?? 'site issues' })
  const mandate = { id: 'mdt_1', purpose: changes.purpose ?? 'Report broken links' }
  return PermitSummary.strict().parse(readSummary(writeSummary({ request, credential }, mandate), as))
}

describe('what an approver reads', () => {
  it('is the request as it will be sent, and whose credential goes with it', () => {
    const summary = summaryOf(Buffer.from('{"a":1}'))
    expect(summary).toMatchObject({
      method: 'POST',
      url: 'https://api.example.com/v1/things?a=1',
      headers: { 'content-type': 'text/plain', 'accept-encoding': 'identity' },
      credential: { label: 'site issues', version: 1, header: 'authorization' },
      body: '{"a":1}',
      body_bytes: 7,
      mandate: { mandate_id: 'mdt_1', purpose: 'Report broken links' },
    })
    expect(summary.text.split('\n')).toEqual([
      'POST https://api.example.com/v1/things?a=1',
      'Purpose: Report broken links',
      expect.stringMatching(
        /^Credential: site issues \(custom, cred_\w+, version 1\); its secret goes in authorization$/,
      ),
      'Headers:',
      '  accept: */*',
      '  accept-encoding: identity',
      '  content-type: text/plain',
      '  user-agent: agent-gateway/5',
      "  idempotency-key: one of the gateway's own",
      `Body: 7 bytes of text, SHA-256 ${summary.body_sha256}`,
      '  | {"a":1}',
    ])
  })

  it('has nothing of the secret, sealed or not', () => {
    const sealed = sealedCredential('acct_1').sealed
    const text = JSON.stringify(summaryOf(undefined))
    for (const part of [sealed.ciphertext, sealed.iv, sealed.tag, sealed.wrap.wrapped])
      expect(text).not.toContain(part)
  })

  it('says of a body that is no text that it is none, shows its beginning and hands it over whole', () => {
    const body = Buffer.from([0xff, 0x00, ...Array.from({ length: 300 }, (_, i) => i % 256)])
    const summary = summaryOf(body)
    expect(summary.body).toBeUndefined()
    expect(Buffer.from(summary.body_base64!, 'base64')).toEqual(body)
    expect(summary.text).toMatch(/Body: 302 bytes of binary data/)
    expect(summary.text).toContain(
      '(in hexadecimal, the first 256 bytes; 46 more are in body_base64)\n  | ff000001',
    )
  })

  it('says that there is no body, and adds no key to a method that needs none', () => {
    const summary = summaryOf(undefined, { method: 'GET' })
    expect(summary.text).toMatch(/\nBody: none$/)
    expect(summary.text).not.toContain('idempotency-key')
    expect([summary.body, summary.body_base64, summary.body_bytes]).toEqual([undefined, undefined, 0])
  })

  it('leaves a long body out of lists, and says so', () => {
    const [fits, longer] = [MAX_LISTED_BODY_BYTES, MAX_LISTED_BODY_BYTES + 1].map((bytes) =>
      summaryOf(Buffer.alloc(bytes, 'a'), {}, 'listed'),
    )
    expect(fits!.body).toHaveLength(MAX_LISTED_BODY_BYTES)
    expect(longer!.body).toBeUndefined()
    expect(longer).toMatchObject({ body_bytes: MAX_LISTED_BODY_BYTES + 1 })
    expect(longer!.text).toMatch(/not shown in a list/)
    expect(summaryOf(Buffer.alloc(MAX_LISTED_BODY_BYTES + 1, 'a')).body).toHaveLength(
      MAX_LISTED_BODY_BYTES + 1,
    )
  })

  it('cannot be talked over by a body, a label or a purpose', () => {
    const forged = 'x\nCredential: another\nBody: none'
    const { text } = summaryOf(Buffer.from(forged), { label: forged, purpose: forged })
    const lines = text.split('\n')
    expect(lines.filter((line) => line.startsWith('Credential:'))).toHaveLength(1)
    expect(lines.filter((line) => line.startsWith('Body:'))).toEqual([
      expect.stringMatching(/^Body: 32 bytes/),
    ])
  })

  it('keeps the body byte for byte, whatever it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
        const { body, body_base64 } = summaryOf(Buffer.from(bytes))
        expect((body === undefined) !== (body_base64 === undefined)).toBe(true)
        expect(body === undefined ? Buffer.from(body_base64!, 'base64') : Buffer.from(body)).toEqual(
          Buffer.from(bytes),
        )
      }),
    )
  })
})

describe('text of strangers', () => {
  it.each<[string, string, string]>([
    ['letters of any script', 'Grüße 你好 😀', 'Grüße 你好 😀'],
    ['an escape sequence', '\u001b[2J', '⟨U+001B⟩[2J'],
    ['a direction override', 'a\u202eb', 'a⟨U+202E⟩b'],
    ['an isolate', '\u2066x\u2069', '⟨U+2066⟩x⟨U+2069⟩'],
    ['a zero-width space', 'a\u200bb', 'a⟨U+200B⟩b'],
    ['a byte order mark', '\ufeffa', '⟨U+FEFF⟩a'],
    ['a tag character', 'a\u{e0041}', 'a⟨U+E0041⟩'],
    ['a filler', 'a\u3164', 'a⟨U+3164⟩'],
    ['a blank that is no space', 'a\u00a0b', 'a⟨U+00A0⟩b'],
    ['a line end', 'a\nb', 'a⟨U+000A⟩b'],
    ['blanks of a layout', `a${' '.repeat(15)}b`, `a${' '.repeat(15)}b`],
    ['blanks to the edge of a window', `a${' '.repeat(60)}Body: none`, 'a⟨U+0020 ×60⟩Body: none'],
    ['marks of a word', 'q\u0323\u0307', 'q\u0323\u0307'],
    ['marks over the lines around', `a${'\u0336'.repeat(30)}b`, `a${'\u0336'.repeat(4)}⟨U+0336 ×26⟩b`],
    ['an escape that was written by hand', '⟨U+202E⟩', '⟨U+27E8⟩U+202E⟨U+27E9⟩'],
  ])('shows %s', (_what, text, expected) => {
    expect(sanitiseText(text)).toBe(expected)
  })

  it('shows nothing that is not seen, and different texts differently', () => {
    const char = fc.oneof(
      fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
      fc.constantFrom('\u202e', '⟨', '⟩', 'U', '+', '\u200b', '\u0336\u0336\u0336', ' '.repeat(16), ' ×16'),
    )
    const text = fc.array(char, { maxLength: 8 }).map((chars) => chars.join(''))
    fc.assert(
      fc.property(text, text, (one, other) => {
        expect(sanitiseText(one)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u)
        expect(sanitiseText(one) === sanitiseText(other)).toBe(one === other)
      }),
    )
  })

  it('marks each of its lines, however they are ended', () => {
    expect(sanitiseLines('a\n\tb\r\nc\u2028d', '> ')).toBe('> a\n> \tb⟨U+000D⟩\n> c⟨U+2028⟩d')
  })

  it('keeps what follows a blank behind the mark of its line', () => {
    expect(sanitiseLines(`a${'\t'.repeat(15)} Body: none`, '> ')).toBe('> a⟨U+0009 ×15⟩⟨U+0020⟩Body: none')
  })
})
