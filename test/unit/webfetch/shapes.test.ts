// Seven shapes by eight spellings of the URL, and the two forms of a command: one parser, one table.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { URL_ALIASES, WEB_FETCH, WebFetchRequest } from '../../../schemas/web-fetch.ts'
import { prepareFetch } from '../../../src/webfetch/request.ts'
import { readShape } from '../../../src/webfetch/shapes.ts'

type Json = Record<string, unknown>
type Wrap = (inner: Json, beside?: Json) => Json

const SHAPES: Readonly<Record<string, Wrap>> = {
  flat: (inner, beside = {}) => ({ ...inner, ...beside }),
  'tool and input': (input, beside = {}) => ({ tool: WEB_FETCH, input, ...beside }),
  'name and arguments': (inner, beside = {}) => ({ name: WEB_FETCH, arguments: inner, ...beside }),
  'tool_name and parameters': (parameters, beside = {}) => ({ tool_name: WEB_FETCH, parameters, ...beside }),
  'function with encoded arguments': (inner, beside = {}) => ({
    function: { name: WEB_FETCH, arguments: JSON.stringify(inner) },
    ...beside,
  }),
  operation: (inner, beside = {}) => ({ operation: { name: WEB_FETCH, arguments: inner }, ...beside }),
}
const POINTERS: Readonly<Record<string, string>> = {
  flat: '',
  'tool and input': '/input',
  'name and arguments': '/arguments',
  'tool_name and parameters': '/parameters',
  'function with encoded arguments': '/function/arguments',
  operation: '/operation/arguments',
}
const URL = 'https://a.example/p?q=1'

/** As the tool gets it: checked by its schema first. */
const read = (input: unknown) => {
  const parsed = WebFetchRequest.safeParse(input)
  return parsed.success ? readShape(parsed.data) : { ok: false as const, issues: parsed.error.issues }
}
const wanted = (input: unknown) => {
  const reading = read(input)
  if (!reading.ok) throw new Error(JSON.stringify(reading))
  const { urlPointer: _pointer, ...rest } = reading.wanted
  return rest
}

const DEFAULTS = {
  method: 'GET',
  mode: 'auto',
  timeoutMs: 8000,
  maxBytes: 131_072,
  network: 'eip155:8453',
}
const FULL = { method: 'HEAD', mode: 'json', timeout_ms: 1000, max_bytes: 1024 }
const FULL_READ = { method: 'HEAD', mode: 'json', timeoutMs: 1000, maxBytes: 1024 }

const spellings = [...URL_ALIASES, 'curl', 'command'] as const
const say = (spelling: (typeof spellings)[number]): Json =>
  spelling === 'curl' || spelling === 'command'
    ? { [spelling]: `curl --compressed '${URL}'` }
    : { [spelling]: URL }

describe.each(Object.entries(SHAPES))('shape %s', (name, wrap) => {
  describe.each(spellings)('with the URL as %s', (spelling) => {
    it('is read with its defaults', () => {
      expect(wanted(wrap(say(spelling)))).toEqual({ url: URL, ...DEFAULTS })
    })

    it('is read with every option inside', () => {
      expect(wanted(wrap({ ...say(spelling), ...FULL, network: 'base' }))).toEqual({
        url: URL,
        ...FULL_READ,
        network: 'eip155:8453',
      })
    })

    it('is read with testnet beside the wrapper', () => {
      expect(wanted(wrap(say(spelling), { testnet: true }))).toEqual({
        url: URL,
        ...DEFAULTS,
        network: 'eip155:84532',
      })
    })

    it('refuses another URL, naming both places', () => {
      const other = spelling === 'url' ? 'href' : 'url'
      expect(read(wrap({ ...say(spelling), [other]: 'https://b.example/' }))).toMatchObject({
        ok: false,
        code: 'input_conflict',
        fields: expect.arrayContaining([
          { pointer: `${POINTERS[name]}/${spelling}`, message: 'Two different values for url' },
          { pointer: `${POINTERS[name]}/${other}`, message: 'Two different values for url' },
        ]),
      })
    })

    it('takes the same URL said twice', () => {
      const other = spelling === 'url' ? 'href' : 'url'
      expect(wanted(wrap({ ...say(spelling), [other]: URL })).url).toBe(URL)
    })
  })

  it('has one digest in every shape', () => {
    const digest = (input: unknown) => prepareFetch(input, { ports: [443] }).digest
    expect(digest(wrap({ url: URL, ...FULL }))).toBe(digest({ url: URL, ...FULL }))
    expect(digest(wrap({ url: URL }))).not.toBe(digest({ url: URL, ...FULL }))
  })

  it('refuses an unknown member by name', () => {
    const reading = read(wrap({ url: URL, headers: {} }))
    expect(reading.ok).toBe(false)
    expect(JSON.stringify(reading)).toContain('headers')
    if (name !== 'flat')
      expect(reading).toMatchObject({
        code: 'input_unknown_property',
        fields: [{ pointer: `${POINTERS[name]}/headers` }],
      })
  })

  it('names the URL that is missing', () => {
    expect(read(wrap({ method: 'GET' }))).toMatchObject({
      code: 'input_missing_field',
      fields: [{ pointer: `${POINTERS[name]}/url`, message: 'Required' }],
    })
  })
})

describe('the command shape', () => {
  it('carries method and time limit', () => {
    expect(wanted({ command: `curl -I -m 2 ${URL}`, testnet: true })).toEqual({
      ...DEFAULTS,
      url: URL,
      method: 'HEAD',
      timeoutMs: 2000,
      network: 'eip155:84532',
    })
  })

  it.each<[string, Json, string, string[]]>([
    ['a refused option', { command: `curl -L ${URL}` }, 'input_invalid', ['/command']],
    ['two URLs', { command: `curl ${URL} https://b.example/` }, 'input_conflict', ['/command']],
    ['too long a time', { command: `curl -m 60 ${URL}` }, 'input_invalid', ['/command']],
    ['too short a time', { curl: `curl -m 0.5 ${URL}` }, 'input_invalid', ['/curl']],
    [
      'a method beside it that differs',
      { command: `curl -I ${URL}`, method: 'GET' },
      'input_conflict',
      ['/command', '/method'],
    ],
    [
      'a time beside it that differs',
      { command: `curl -m 2 ${URL}`, timeoutMs: 3000 },
      'input_conflict',
      ['/command', '/timeoutMs'],
    ],
    [
      'a URL beside it that differs',
      { command: `curl ${URL}`, target: 'https://b.example/' },
      'input_conflict',
      ['/command', '/target'],
    ],
    ['a text that is no command', { command: URL }, 'input_invalid', ['/command']],
  ])('refuses %s', (_, input, code, pointers) => {
    const reading = readShape(WebFetchRequest.parse(input))
    expect(reading).toMatchObject({ ok: false, code })
    expect('fields' in reading && reading.fields.map(({ pointer }) => pointer).sort()).toEqual(
      pointers.sort(),
    )
  })
})

describe('one value for a field', () => {
  it.each<[string, Json, string[]]>([
    ['testnet and the production network', { testnet: true, network: 'base' }, ['/network', '/testnet']],
    [
      'no testnet and the test network',
      { testnet: false, network: 'eip155:84532' },
      ['/network', '/testnet'],
    ],
    [
      'two wrappers',
      { input: { method: 'GET' }, arguments: { method: 'HEAD' } },
      ['/arguments/method', '/input/method'],
    ],
    ['both spellings of the time', { timeout_ms: 2000, timeoutMs: 3000 }, ['/timeoutMs', '/timeout_ms']],
    ['both spellings of the size', { max_bytes: 2048, maxBytes: 4096 }, ['/maxBytes', '/max_bytes']],
    ['inside and outside', { mode: 'text', input: { mode: 'json' } }, ['/input/mode', '/mode']],
  ])('%s', (_, input, pointers) => {
    const reading = readShape(WebFetchRequest.parse({ url: URL, ...input }))
    expect(reading).toMatchObject({ ok: false, code: 'input_conflict' })
    expect('fields' in reading && reading.fields.map(({ pointer }) => pointer).sort()).toEqual(
      pointers.sort(),
    )
  })

  it.each<[string, Json, Json]>([
    ['testnet and its network', { testnet: true, network: 'base-sepolia' }, { network: 'eip155:84532' }],
    ['no testnet and production', { testnet: false, network: 'base-mainnet' }, { network: 'eip155:8453' }],
    ['both spellings of the time', { timeout_ms: 2000, timeoutMs: 2000 }, { timeoutMs: 2000 }],
    ['a bare origin with and without slash', { href: 'https://a.example' }, { url: 'https://a.example/' }],
  ])('%s may agree', (_, input, expected) => {
    const url = 'href' in input ? 'https://a.example/' : URL
    expect(wanted({ url, ...input })).toMatchObject(expected)
  })

  it.each([
    ['eip155:8453', 'eip155:8453'],
    ['base', 'eip155:8453'],
    ['base-mainnet', 'eip155:8453'],
    ['eip155:84532', 'eip155:84532'],
    ['base-sepolia', 'eip155:84532'],
  ])('network %s is %s', (network, id) => expect(wanted({ url: URL, network }).network).toBe(id))
})

describe('what is refused', () => {
  it.each<[string, Json, string]>([
    ['the name of another tool', { tool: 'gateway.egress.fetch', input: { url: URL } }, '/tool'],
    ['the name of another tool in name', { name: 'fetch', arguments: { url: URL } }, '/name'],
    ['the name of another tool in tool_name', { tool_name: 'x', parameters: { url: URL } }, '/tool_name'],
    [
      'the name of another function',
      { function: { name: 'x', arguments: JSON.stringify({ url: URL }) } },
      '/function/name',
    ],
    [
      'the name of another operation',
      { operation: { name: 'x', arguments: { url: URL } } },
      '/operation/name',
    ],
    ['arguments that are no JSON', { function: { arguments: '{url' } }, '/function/arguments'],
    ['arguments that are too deep', { function: { arguments: '['.repeat(9) } }, '/function/arguments'],
    ['arguments that are a list', { function: { arguments: '[]' } }, '/function/arguments'],
  ])('%s', (_, input, pointer) => {
    const reading = readShape(WebFetchRequest.parse(input))
    expect(reading).toMatchObject({ ok: false })
    expect('fields' in reading && reading.fields[0]!.pointer).toBe(pointer)
  })

  it('a member given twice in encoded arguments, whichever a parser would take', () => {
    const twice = `{"url":${JSON.stringify(URL)},"url":"https://b.example/"}`
    expect(read({ function: { arguments: twice } })).toMatchObject({ ok: false, code: 'input_conflict' })
    const escaped = `{"url":${JSON.stringify(URL)},"u\\u0072l":${JSON.stringify(URL)}}`
    expect(read({ function: { arguments: escaped } })).toMatchObject({ ok: false, code: 'input_conflict' })
  })

  it.each<[string, Json]>([
    ['a method that writes', { method: 'POST' }],
    ['a method in lower case', { method: 'get' }],
    ['a time below the bound', { timeout_ms: 999 }],
    ['a time above the bound', { timeout_ms: 10_001 }],
    ['a fraction of a millisecond', { timeoutMs: 1000.5 }],
    ['a size below the bound', { max_bytes: 1023 }],
    ['a size above the bound', { maxBytes: 131_073 }],
    ['a size in words', { max_bytes: '2048' }],
    ['an unknown mode', { mode: 'html' }],
    ['an unknown network', { network: 'solana' }],
    ['a testnet in words', { testnet: 'true' }],
    ['a URL that is a number', { url: 1 }],
    ['a member that nobody knows', { headers: {} }],
  ])('%s, in every shape', (_, bad) => {
    for (const wrap of Object.values(SHAPES)) expect(read(wrap({ url: URL, ...bad })).ok).toBe(false)
  })

  it.each<[string, Json]>([
    ['the shortest time', { timeout_ms: 1000 }],
    ['the longest time', { timeoutMs: 10_000 }],
    ['the smallest size', { maxBytes: 1024 }],
    ['the largest size', { max_bytes: 131_072 }],
  ])('not %s, in any shape', (_, good) => {
    for (const wrap of Object.values(SHAPES)) expect(read(wrap({ url: URL, ...good })).ok).toBe(true)
  })
})

it('never throws anything but a refusal, whatever is sent', () => {
  const inner = fc.dictionary(
    fc.constantFrom(...spellings, 'method', 'timeout_ms', 'testnet', 'network', '__proto__', 'x'),
    fc.oneof(fc.constantFrom(URL, 'GET', 'base', '{}', 'curl x'), fc.jsonValue()),
  )
  const request = fc.oneof(
    inner,
    fc.record(
      {
        tool: fc.constantFrom(WEB_FETCH, 'x'),
        input: fc.oneof(inner, fc.jsonValue()),
        arguments: inner,
        function: fc.record({
          arguments: fc.oneof(
            fc.json(),
            fc.string(),
            inner.map((v) => JSON.stringify(v)),
          ),
        }),
        operation: fc.record({ arguments: fc.oneof(inner, fc.jsonValue()) }),
        url: fc.constant(URL),
      },
      { requiredKeys: [] },
    ),
  )
  fc.assert(
    fc.property(request, (input) => {
      expect(read(input)).toHaveProperty('ok')
    }),
    { numRuns: 500 },
  )
})
