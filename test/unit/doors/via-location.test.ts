import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keepWithin } from '../../../src/doors/via/location.ts'

const linksOf = (value: string) => keepWithin([['link', value]], '/v1/things', []).map(([, led]) => led)

/** What reads the same of an ordinary value, and takes the square of its length for some others. */
const LINK = /<([^<>]*)>((?:[^",<>]|"(?:[^"\\]|\\.)*")*)/g

describe('links of an answer behind a base URL', () => {
  it('are read with what is said of them, whatever stands in quotes', () => {
    const quoted = fc
      .array(fc.constantFrom('a', ' ', ',', ';', '<', '>', '\\"', '\\\\'))
      .map((parts) => `"${parts.join('')}"`)
    const parameter = fc
      .tuple(
        fc.constantFrom(';', '; ', ' ;'),
        fc.constantFrom('rel', 'title*'),
        fc.oneof(quoted, fc.constant('next')),
      )
      .map(([mark, name, value]) => `${mark}${name}=${value}`)
    const link = fc
      .tuple(fc.stringMatching(/^[a-z;,=?]{0,9}$/), fc.array(parameter, { maxLength: 4 }))
      .map(([path, parameters]) => `<https://a.example/${path}>${parameters.join('')}`)
    const other = fc.constantFrom('', ' ', ',', 'no link', '>')
    const value = fc
      .array(fc.tuple(link, fc.constantFrom(',', ', ', ' , '), other))
      .map((parts) => parts.flat().join(''))
    fc.assert(
      fc.property(value, (given) => {
        const links = [...given.matchAll(LINK)].map(([, to, said]) => `<${to}>${said!.trimEnd()}`)
        expect(linksOf(given)).toEqual(links.length === 0 ? [] : [links.join(', ')])
      }),
    )
  })

  it.each([
    ['</a>; title="b, </c>; rel=next', '<../a>; title='],
    ['</a>, </b>; title="\\", </c>', '<../a>, <../b>; title='],
    ['</a', undefined],
    ['a>, </b', undefined],
    ['<a</b>>, </c>', '<../b>, <../c>'],
  ])('of %s are those before a quote or a bracket that nothing closes', (value, led) => {
    expect(linksOf(value)).toEqual(led === undefined ? [] : [led])
  })

  // Each of these looks to its end for something that never comes.
  it.each([
    ['<>\\"', '<../v1/things>\\'],
    ['<', undefined],
    ['>', undefined],
    ['<a', undefined],
  ])('are read once, however often %s is repeated', (part, led) => {
    const links = linksOf(part.repeat(100_000)).map((all) => all.slice(0, 99))
    expect(links).toEqual(led === undefined ? [] : [led])
  })
})

describe('links that each get the way up a long path', () => {
  const LONG = `/${'a/'.repeat(3_800)}`
  const links = (count: number) => Array.from({ length: count }, (_, i) => `<${i}>`).join(',')
  const lengthOf = (headers: readonly (readonly [string, string])[]) =>
    headers.reduce((sum, [, value]) => sum + value.length, 0)

  it.each([
    ['in one header', [['link', links(3_900)]]],
    ['in many', Array.from({ length: 1_000 }, (_, i) => ['link', `<${i}>`])],
  ] as [string, [string, string][]][])('make an answer little longer than it came: %s', (_, headers) => {
    const led = keepWithin(headers, LONG, [])
    expect(led.length).toBeGreaterThan(0)
    expect(lengthOf(led)).toBeLessThan(lengthOf(headers) + 33 * 1024)
  })

  it('are all there on a path as programs have it', () => {
    expect(linksOf(links(500))[0]!.split(', ')).toHaveLength(500)
  })
})

describe('addresses of the upstream behind a base URL', () => {
  const ORIGIN = 'https://api.example.com'
  const keep = (name: string, value: string, base?: string) =>
    keepWithin([[name, value]], '/repos/acme', ['gateway.example'], { origin: ORIGIN, base })[0]?.[1]

  it.each([
    ['location', `${ORIGIN}/repos/new?a=1#b`, 'https://gateway.example/via/gh/repos/new?a=1#b'],
    ['location', `${ORIGIN}:443/repos/new`, 'https://gateway.example/via/gh/repos/new'],
    ['location', 'https://API.example.com/repos/new', 'https://gateway.example/via/gh/repos/new'],
    ['location', '/repos/new', '../repos/new'],
    ['location', `${ORIGIN}:8443/repos/new`, `${ORIGIN}:8443/repos/new`],
    ['location', 'http://api.example.com/repos/new', 'http://api.example.com/repos/new'],
    ['location', `${ORIGIN}.elsewhere.example/x`, `${ORIGIN}.elsewhere.example/x`],
    ['location', 'https://gateway.example/x', undefined],
    [
      'link',
      `<${ORIGIN}/repos?page=2>; rel="next"`,
      '<https://gateway.example/via/gh/repos?page=2>; rel="next"',
    ],
    ['link', '</repos?page=2>; rel="next"', '<../repos?page=2>; rel="next"'],
  ])('lead behind it again, in %s: %s', (name, value, led) => {
    expect(keep(name, value, 'https://gateway.example/via/gh')).toBe(led)
  })

  it('are relative where nothing says by which name the program finds the gateway', () => {
    expect(keep('link', `<${ORIGIN}/repos?page=2>; rel="next"`)).toBe('<../repos?page=2>; rel="next"')
    expect(keep('location', `${ORIGIN}/repos/new`)).toBe('../repos/new')
  })
})

describe('addresses of others behind a base URL', () => {
  const led = (value: string, name = 'location') =>
    keepWithin([[name, value]], '/repos', ['gateway.example', '127.0.0.1:8402'], {
      origin: 'https://api.example.com',
      base: 'http://127.0.0.1:8402/via/gh',
    })[0]?.[1]

  it.each([
    "https://files.example/a'b?X-Amz-Signature=1&name='x'#'",
    'https://Files.Example:443/a/../b/./c|d?q="x"&r={1}^`',
    'http://files.example:8080',
    'http://192.0.2.1/a\\b',
    "https://[2001:db8::1]:8443/it's",
  ])('are passed on letter by letter, as a signature may be over them: %s', (value) => {
    expect(led(value)).toBe(value)
    expect(led(`<${value}>; rel=next`, 'link')).toBe(`<${value}>; rel=next`)
  })

  it.each([
    // A path to a library that is at `http:` itself.
    ['http:/via/other/pay', 'http://via/other/pay'],
    ['http:\\\\files.example/', 'http://files.example/'],
    ['//files.example/x', 'https://files.example/x'],
    // Where the host ends is read in several ways.
    ['https://files.example\\@gateway.example/x', 'https://files.example/@gateway.example/x'],
    ['https://gateway.example@files.example/x', 'https://gateway.example@files.example/x'],
    ['https://files.example?@gateway.example/x', 'https://files.example/?@gateway.example/x'],
    ['https://files.example#@gateway.example/x', 'https://files.example/#@gateway.example/x'],
    ['http://0300.0.2.1/x', 'http://192.0.2.1/x'],
    ['https://f%69les.example/x', 'https://files.example/x'],
    ['https://files.example/é', 'https://files.example/%C3%A9'],
    ["https://files.example/\t?'", 'https://files.example/?%27'],
    ["https://files.example/a b?'", 'https://files.example/a%20b?%27'],
    ['http://0x7f.1:8402/via/other/pay', undefined],
    ['HTTPS://GATEWAY.example/x', undefined],
  ])('are spelled anew where not every library reads the same in them: %s', (value, spelled) => {
    expect(led(value)).toBe(spelled)
  })
})
