import { describe, expect, it } from 'vitest'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { decode, locate } from '../../../src/doors/site/components/inspect/documents.ts'
import { type Pasted, readPaste } from '../../../src/doors/site/components/inspect/pasted.ts'
import { SAMPLE_NAMES, transactionSample } from '../../../src/doors/site/samples.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { wire } from '../../support/commerce.ts'
import { cpuMs } from '../../support/cpu-time.ts'

function paste(text: string): Pasted {
  const read = readPaste(text)
  if (!read.ok) throw new Error(read.fault)
  return read.pasted
}

/** The letters that a place leads to. */
function lettersAt(pasted: Pasted, place: string): string | undefined {
  const { documents, spots } = locate(pasted, [place])
  const spot = spots[0]
  return spot && documents[spot.document]?.text.slice(spot.range.from, spot.range.to)
}

describe('what is pasted', () => {
  it('is a sample in JSON, without members of other things', () => {
    const { form, transaction } = paste('{"target":"https://a.example/","name":"mine","body":{"a":1}}')
    expect([form, transaction]).toEqual(['sample', { target: 'https://a.example/', body: { a: 1 } }])
  })

  it('is an HTTP message, as it is written down', () => {
    const text = 'PUT /pay?a=1 HTTP/1.1\r\nHost: shop.example\r\nX-A:  1 \r\nX-A: 2\r\n\r\n{"b":2}\r\n'
    const pasted = paste(text)
    expect(pasted.transaction).toEqual({
      target: 'https://shop.example/pay?a=1',
      method: 'PUT',
      headers: { Host: 'shop.example', 'X-A': ['1', '2'] },
      body: '{"b":2}',
    })
    expect(lettersAt(pasted, '/headers/X-A/1')).toBe('2')
    expect(lettersAt(pasted, '/target')).toBe('/pay?a=1')
    expect(lettersAt(pasted, '/body#/b')).toBe('2')
  })

  it('is the answer of a server', () => {
    const pasted = paste('HTTP/1.1 402 Payment Required\nPAYMENT-REQUIRED: e30=\n')
    expect(pasted).toMatchObject({ form: 'http', isTargetAssumed: true })
  })

  it('is a document alone, for an address that is made up and said to be', () => {
    const pasted = paste('{"x402Version": 2}')
    expect(pasted).toMatchObject({ form: 'document', isTargetAssumed: true })
    expect(lettersAt(pasted, '/body#/x402Version')).toBe('2')
  })

  it.each([
    [
      "curl -X POST 'https://a.example/p' -H 'X-A: it'\\''s' -d '{\"a\":1}'",
      { method: 'POST', headers: { 'X-A': "it's" }, body: '{"a":1}' },
    ],
    [
      'curl https://a.example/p \\\n  --header "X-A: \\"q\\"" \\\n  -o file',
      { method: 'GET', headers: { 'X-A': '"q"' } },
    ],
    [
      "$ curl -XPUT --url=https://a.example/p --json $'{\"a\":\\'1\\'}'",
      { method: 'PUT', body: '{"a":\'1\'}' },
    ],
    ['curl https://a.example/p -d a=1 --data b=2', { method: 'POST', body: 'a=1&b=2' }],
  ])('is a command of curl: %s', (command, expected) => {
    const pasted = paste(command)
    expect(pasted.form).toBe('curl')
    expect(pasted.transaction).toMatchObject({ target: 'https://a.example/p', ...expected })
  })

  it.each([
    ['', 'empty'],
    [' \n', 'empty'],
    ['hello there', 'unreadable'],
    ['[1]', 'unreadable'],
    ['"text"', 'unreadable'],
    ['POST / HTTP/1.1\nno field at all\n\n', 'unreadable'],
    ['{"method":"POST","headers":{}}', 'no_target'],
    ['curl', 'unreadable'],
  ])('is refused with a reason where it is none: %j', (text, fault) => {
    expect(readPaste(text)).toEqual({ ok: false, fault })
  })

  it('takes no longer for hostile text than for any other', () => {
    const hostile = [
      `curl ${'"\'"'.repeat(40_000)}`,
      `curl ${' '.repeat(200_000)}x`,
      `curl ${'\\'.repeat(100_001)}`,
      `POST ${'/ '.repeat(100_000)}`,
      `A: ${' '.repeat(200_000)}\n`,
      `GET / HTTP/1.1\nA:${' '.repeat(200_000)}b\n\n`,
    ]
    expect(cpuMs(() => hostile.map(readPaste))).toBeLessThan(1000)
  })
})

describe('a place', () => {
  it('inside of a header is in the document that the header encodes', () => {
    const pasted = paste(transactionSample('x402', 0))
    const { documents, spots } = locate(pasted, ['/headers/PAYMENT-SIGNATURE#/accepted/amount'])
    expect(documents.map(({ place }) => place)).toEqual(['', '/headers/PAYMENT-SIGNATURE'])
    expect(spots[0]?.document).toBe(1)
    expect(lettersAt(pasted, '/headers/PAYMENT-SIGNATURE#/accepted/amount')).toBe('"25000"')
  })

  it('inside of what is encoded in something encoded is found as well', () => {
    expect(
      lettersAt(paste(transactionSample('mpp', 0)), '/headers/Authorization#/challenge/request#/amount'),
    ).toBe('"750000"')
  })

  it('of a list or object is its name, which says more than a bracket', () => {
    const pasted = paste('{"target":"https://a.example/","body":{"list":[{"a":1}]}}')
    expect(lettersAt(pasted, '/body/list')).toBe('"list"')
    expect(lettersAt(pasted, '/body/list/0')).toBe('{')
  })

  it('is nowhere where nothing is, and the header itself where what is in it is not unfolded', () => {
    const pasted = paste('GET https://a.example/ HTTP/1.1\nSignature-Input: sig1=("@method")\n\n')
    expect(lettersAt(pasted, '/headers/Signature-Input#/sig1/created')).toBe('sig1=("@method")')
    expect(lettersAt(pasted, '/headers/Other')).toBeUndefined()
    expect(lettersAt(pasted, '')).toBeUndefined()
  })

  it('in what is nested more deeply than anything is the header that holds it', () => {
    const deep = Buffer.from(`${'['.repeat(20_000)}${']'.repeat(20_000)}`).toString('base64')
    const pasted = paste(`GET https://a.example/ HTTP/1.1\nX-Payment: ${deep}\n\n`)
    expect(lettersAt(pasted, '/headers/X-Payment#/0/0')).toBe(deep)
  })

  it('among a hundred in one large body costs one reading of it', () => {
    const body = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => ({ at })))
    const pasted = paste(`POST https://a.example/ HTTP/1.1\n\n${body}`)
    const places = Array.from({ length: 200 }, (_, at) => `/body#/${at}/at`)
    expect(locate(pasted, places).spots.every((spot) => spot !== undefined)).toBe(true)
    const cost = (count: number) => cpuMs(() => locate(pasted, places.slice(0, count)))
    expect(cost(200)).toBeLessThan(50 * cost(1))
  })

  it('of every report on every protocol is found, but for those of the whole body', () => {
    const lost: string[] = []
    for (const [name, source] of Object.entries(SAMPLES)) {
      const transaction = wire(source)
      const pasted = paste(JSON.stringify(transaction, undefined, 2))
      const report = testTransaction(transaction)
      const places = [
        ...report.checks.flatMap(({ evidence }) => evidence ?? []),
        ...report.caps.map(({ at }) => at),
        ...report.layers.flatMap(({ evidence }) => evidence.map(({ at }) => at)),
      ].filter((place) => place !== '')
      const { spots } = locate(pasted, places)
      for (const [at, place] of places.entries()) if (!spots[at]) lost.push(`${name} ${place}`)
    }
    expect(lost).toEqual([])
  })
})

describe('decoding', () => {
  const json = '{"a":"ü"}'
  const base64 = Buffer.from(json).toString('base64')
  const base64url = Buffer.from(json).toString('base64url')
  it.each([
    [json, { a: 'ü' }],
    [base64, { a: 'ü' }],
    [base64url, { a: 'ü' }],
    [`Payment ${base64url}`, { a: 'ü' }],
    [`${base64url}.${base64url}.sig`, { header: { a: 'ü' }, payload: { a: 'ü' } }],
    [`${base64url}..sig`, { header: { a: 'ü' } }],
    ['plain words', undefined],
    ['////', undefined],
    ['12', undefined],
    ['A'.repeat(100_000), undefined],
  ])('of %.40s', (text, expected) => {
    expect(decode(text)).toEqual(expected)
  })
})

describe('the samples', () => {
  it.each(SAMPLE_NAMES)('%s is recognised as what it says it is', (name) => {
    const { transaction } = paste(transactionSample(name, Date.UTC(2026, 10, 23)))
    const { protocol, applicable, score } = testTransaction(transaction as never)
    expect([protocol, applicable]).toEqual([name === 'risky' ? 'x402' : name, true])
    if (name === 'risky') expect(score).toBeLessThan(50)
    if (name === 'x402') expect(score).toBeGreaterThan(90)
  })
})
