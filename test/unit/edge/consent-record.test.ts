import { createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  accountToken,
  base32,
  formatRecord,
  MAX_PATHS,
  MAX_RECORD_CHARS,
  parseRecord,
  type RecordReading,
  showRecord,
} from '../../../src/edge/consent-record.ts'

const ACCT = 'abcdefghijklmnopqrstuvwxyz'.slice(0, 24) + '27'
const BASE = `v=agw1; gw=gw.example.com; acct=${ACCT}`
const least = {
  gateway: 'gw.example.com',
  accountToken: ACCT,
  paths: ['/'],
  methods: ['POST'],
  until: null,
}

describe('a consent record', () => {
  it.each<[string, string, object]>([
    ['with the least', BASE, {}],
    ['without blanks', BASE.replaceAll(' ', ''), {}],
    ['with its keys in another order', `acct=${ACCT}; v=agw1; gw=gw.example.com`, {}],
    ['with gw and acct in capitals', `v=agw1; gw=GW.Example.com; acct=${ACCT.toUpperCase()}`, {}],
    ['with paths', `${BASE}; paths=/v1/,/catalog`, { paths: ['/v1/', '/catalog'] }],
    ['with a path twice', `${BASE}; paths=/a,/a`, { paths: ['/a'] }],
    ['with an equals sign in a path', `${BASE}; paths=/a=b`, { paths: ['/a=b'] }],
    ['with methods', `${BASE}; methods=GET,POST`, { methods: ['GET', 'POST'] }],
    ['with an end', `${BASE}; until=1798761600`, { until: 1_798_761_600_000 }],
    ['that ended in 1970', `${BASE}; until=0`, { until: 0 }],
    ['until it is removed', `${BASE}; until=never`, {}],
    [
      'with as many paths as may be',
      `${BASE}; paths=${Array.from({ length: MAX_PATHS }, (_, i) => `/${i}`).join(',')}`,
      { paths: Array.from({ length: MAX_PATHS }, (_, i) => `/${i}`) },
    ],
  ])('is read %s', (_what, text, more) => {
    expect(parseRecord(text)).toEqual({ kind: 'record', record: { ...least, ...more } })
  })

  it.each<[string, string]>([
    ['a key twice', `${BASE}; gw=gw.example.com`],
    ['v twice', `v=agw1; ${BASE}`],
    ['an unknown key, which may restrict', `${BASE}; path=/v1/`],
    ['a key in capitals', `V=agw1; gw=gw.example.com; acct=${ACCT}`],
    ['v in capitals', `v=AGW1; gw=gw.example.com; acct=${ACCT}`],
    ['no gw', `v=agw1; acct=${ACCT}`],
    ['no acct', 'v=agw1; gw=gw.example.com'],
    ['v alone', 'v=agw1'],
    ['an empty value', `${BASE}; paths=`],
    ['no equals sign', `${BASE}; paths`],
    ['an empty key', `${BASE}; =/`],
    ['a semicolon at the end', `${BASE};`],
    ['a semicolon and a blank at the end', `${BASE}; `],
    ['a blank in front', ` ${BASE}`],
    ['a blank behind', `${BASE} `],
    ['two blanks between', BASE.replaceAll('; ', ';  ')],
    ['blanks around the equals sign', BASE.replaceAll('=', ' = ')],
    ['quotes around it', `"${BASE}"`],
    ['commas between', BASE.replaceAll(';', ',')],
    ['a tab', BASE.replaceAll('; ', ';\t')],
    ['a line break', `${BASE}\n`],
    ['a NUL', `${BASE}\0`],
    ['a letter beyond ASCII', `v=agw1; gw=gw.ex\xe4mple.com; acct=${ACCT}`],
    ['a gw with a path', `v=agw1; gw=gw.example.com/x; acct=${ACCT}`],
    ['a short acct', BASE.slice(0, -1)],
    ['a long acct', `${BASE}a`],
    ['an acct with digits that base32 does not have', BASE.slice(0, -1) + '1'],
    ['a relative path', `${BASE}; paths=v1`],
    ['a path that is not canonical', `${BASE}; paths=/a/../b`],
    ['a path with an escaped slash', `${BASE}; paths=/a%2fb`],
    ['an empty path in the list', `${BASE}; paths=/a,,/b`],
    ['a blank between paths', `${BASE}; paths=/a, /b`],
    [
      'one path too many',
      `${BASE}; paths=${Array.from({ length: MAX_PATHS + 1 }, (_, i) => `/${i}`).join(',')}`,
    ],
    ['a path that is too long', `${BASE}; paths=/${'a'.repeat(1024)}`],
    ['a method in lower case', `${BASE}; methods=post`],
    ['a method that is none', `${BASE}; methods=TRACE`],
    ['every method', `${BASE}; methods=*`],
    ['until as a date', `${BASE}; until=2027-01-01`],
    ['until in milliseconds', `${BASE}; until=1798761600000`],
    ['until with a sign', `${BASE}; until=-1`],
    ['until with a fraction', `${BASE}; until=1.5`],
    ['until with a zero in front', `${BASE}; until=01798761600`],
    ['until in capitals', `${BASE}; until=NEVER`],
    [
      'more characters than any record has',
      `${BASE}; paths=${Array.from({ length: 5 }, (_, i) => `/${i}${'a'.repeat(MAX_RECORD_CHARS / 5)}`).join(',')}`,
    ],
  ])('is malformed with %s', (_what, text) => {
    const reading = parseRecord(text)
    expect(reading.kind).toBe('malformed')
    // What is wrong is said without repeating what a stranger wrote.
    if (reading.kind === 'malformed') expect(reading.why).not.toContain(ACCT.slice(0, 20))
  })

  it.each<[string, RecordReading['kind']]>([
    ['v=agw2; everything=else', 'unsupported_version'],
    [BASE.replace('agw1', 'agw10'), 'unsupported_version'],
    [BASE.replace('agw1', 'agw1x'), 'malformed'],
    ['v=spf1 -all', 'foreign'],
    ['', 'foreign'],
    ['google-site-verification=abc', 'foreign'],
    ['nav=agw1; gw=x', 'foreign'],
    [`gw=gw.example.com; acct=${ACCT}`, 'foreign'],
  ])('tells %s from ours', (text, kind) => {
    expect(parseRecord(text).kind).toBe(kind)
  })

  it('is read again as it was written', () => {
    expect(parseRecord(formatRecord('gw.example.com', ACCT))).toEqual({ kind: 'record', record: least })
  })

  it('never throws, whatever the text', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'v=agw1',
        'gw=',
        'acct=',
        'paths=/',
        'methods=POST',
        'until=',
        ';',
        '; ',
        '=',
        ',',
        ACCT,
      ),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(['record', 'foreign', 'unsupported_version', 'malformed']).toContain(
          parseRecord(pieces.join('')).kind,
        )
      }),
    )
  })

  it('accepts only records that were written for the gateway and account in them', () => {
    const record = fc.record({
      gw: fc.constantFrom('gw.example.com', 'other.example'),
      paths: fc.uniqueArray(fc.stringMatching(/^\/[a-z]{0,8}$/), { minLength: 1, maxLength: 8 }),
      until: fc.option(fc.integer({ min: 0, max: 9_999_999_999 })),
    })
    fc.assert(
      fc.property(record, fc.boolean(), ({ gw, paths, until }, tight) => {
        const pairs = ['v=agw1', `gw=${gw}`, `acct=${ACCT}`, `paths=${paths.join(',')}`]
        if (until !== null) pairs.push(`until=${until}`)
        expect(parseRecord(pairs.join(tight ? ';' : '; '))).toEqual({
          kind: 'record',
          record: { ...least, gateway: gw, paths, until: until === null ? null : until * 1000 },
        })
      }),
    )
  })
})

describe('the account token', () => {
  const key = createSecretKey(Buffer.alloc(32, 1))
  it('is 128 bits of a keyed digest over account and host', () => {
    expect(accountToken(key, 'acc_1', 'shop.example.com')).toMatchInlineSnapshot(
      `"bgcgsw6eroy3nsaoe5idmx5y6q"`,
    )
    expect(accountToken(key, 'acc_1', 'shop.example.com')).toMatch(/^[a-z2-7]{26}$/)
  })
  it.each<[string, string, string]>([
    ['account', 'acc_2', 'shop.example.com'],
    ['host', 'acc_1', 'shop.example.net'],
  ])('is another one for another %s', (_what, account, host) => {
    expect(accountToken(key, account, host)).not.toBe(accountToken(key, 'acc_1', 'shop.example.com'))
  })
  it('is another one under another key', () => {
    const other = createSecretKey(Buffer.alloc(32, 2))
    expect(accountToken(other, 'acc_1', 'a.example')).not.toBe(accountToken(key, 'acc_1', 'a.example'))
  })

  // RFC 4648, 10, in lower case and without padding.
  it.each<[string, string]>([
    ['', ''],
    ['f', 'my'],
    ['fo', 'mzxq'],
    ['foo', 'mzxw6'],
    ['foob', 'mzxw6yq'],
    ['fooba', 'mzxw6ytb'],
    ['foobar', 'mzxw6ytboi'],
  ])('spells %j as %j', (text, spelled) => {
    expect(base32(Buffer.from(text))).toBe(spelled)
  })
})

describe('a record that is shown', () => {
  it.each<[string, string]>([
    ['v=agw1; gw=a', 'v=agw1; gw=a'],
    ['\x1b[2Jgone', '\\027[2Jgone'],
    ['a\r\nb\0', 'a\\013\\010b\\000'],
    ['\x9b31m\xff', '\\15531m\\255'],
    ['back\\slash', 'back\\\\slash'],
  ])('has nothing that moves a cursor: %j', (text, shown) => {
    expect(showRecord(text)).toBe(shown)
  })
})
