import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCurlCommand, splitCommand } from '../../../src/outbound/curl.ts'

const wordsOf = (command: string) => {
  const split = splitCommand(command)
  return split.ok ? split.words.map(({ text }) => text) : split.reason
}

describe('words of a command', () => {
  it.each<[string, string, string[] | string]>([
    ['blanks between words', ' a  b\tc ', ['a', 'b', 'c']],
    ['single quotes keep everything', `'a $b "c" \\d'`, ['a $b "c" \\d']],
    ['double quotes with escapes of what is special there', '"a \\"b\\" \\\\ \\$ \\x"', ['a "b" \\ $ \\x']],
    ['a backslash outside of quotes', 'a\\ b \\x', ['a b', 'x']],
    ['a continued line', 'a \\\n  b', ['a', 'b']],
    ['a word continued over a line', 'a\\\nb', ['ab']],
    ['a continued line within double quotes', '"a\\\nb"', ['ab']],
    ['quotes inside a word', `a'b'"c"d`, ['abcd']],
    ['empty words', `'' "" a`, ['', '', 'a']],
    ['nothing', '  ', []],
    ['an open single quote', "a 'b", 'open_quote'],
    ['an open double quote', 'a "b', 'open_quote'],
    ['a backslash at the end', 'a \\', 'open_escape'],
  ])('%s', (_, command, expected) => expect(wordsOf(command)).toEqual(expected))

  it('any words come back from their single-quoted form', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
        expect(wordsOf(quoted)).toEqual(words)
      }),
    )
  })

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'\'"\\$`;|&<>(){}[]*?~# \n\rab') }), (text) => {
        expect(splitCommand(text)).toHaveProperty('ok')
        expect(readCurlCommand(text)).toHaveProperty('ok')
      }),
      { numRuns: 2000 },
    )
  })
})

const URL = 'https://a.example/p'

describe('a curl command', () => {
  it.each<[string, { methods?: string[]; timeoutMs?: number; url?: string }]>([
    [`curl ${URL}`, {}],
    [`curl --url ${URL}`, {}],
    [`curl -X GET ${URL}`, { methods: ['GET'] }],
    [`curl -XHEAD ${URL}`, { methods: ['HEAD'] }],
    [`curl --request HEAD ${URL}`, { methods: ['HEAD'] }],
    [`curl ${URL} -I`, { methods: ['HEAD'] }],
    [`curl --head ${URL}`, { methods: ['HEAD'] }],
    [`curl -I -X HEAD ${URL}`, { methods: ['HEAD'] }],
    [`curl -m 5 ${URL}`, { timeoutMs: 5000 }],
    [`curl -m2.5 ${URL}`, { timeoutMs: 2500 }],
    [`curl --max-time 10 ${URL}`, { timeoutMs: 10_000 }],
    [`curl -sS --compressed -i -v ${URL}`, {}],
    [`curl -sSm 3 ${URL}`, { timeoutMs: 3000 }],
    [`curl -sXGET ${URL}`, { methods: ['GET'] }],
    [`curl -sGX GET ${URL}`, { methods: ['GET'] }],
    [`curl -- ${URL}`, {}],
    [`curl \\\n  -s \\\n  '${URL}'`, {}],
    [`curl ${URL}?a=b`, { url: `${URL}?a=b` }],
    [`curl '${URL}?a=b&c=d'`, { url: `${URL}?a=b&c=d` }],
    [`curl "${URL}?a=b&c=d"`, { url: `${URL}?a=b&c=d` }],
    [`curl -g '${URL}?a[]=b'`, { url: `${URL}?a[]=b` }],
    [`curl ${URL} ${URL}`, {}],
    [`  curl ${URL}\n`, {}],
  ])('%s', (command, expected) => {
    expect(readCurlCommand(command)).toEqual({
      ok: true,
      request: {
        url: expected.url ?? URL,
        methods: expected.methods ?? [],
        timeoutMs: expected.timeoutMs,
      },
    })
  })

  it.each<[string, RegExp]>([
    ['wget https://a.example/', /must begin with curl/],
    ['', /must begin with curl/],
    ['curl', /no URL/],
    ['curl -s', /no URL/],
    [`curl -X POST ${URL}`, /-X may be GET or HEAD/],
    [`curl -X get ${URL}`, /upper case/],
    [`curl ${URL} -X`, /-X needs a value/],
    [`curl -m ten ${URL}`, /-m must be a number of seconds/],
    [`curl -m ${URL}`, /-m must be a number/],
    [`curl -L ${URL}`, /-L \(--location\): redirects are never followed/],
    [`curl --location ${URL}`, /--location: redirects are never followed/],
    [`curl -sL ${URL}`, /-L \(--location\)/],
    [`curl -H 'a: b' ${URL}`, /-H \(--header\)/],
    [`curl -A x ${URL}`, /-A \(--user-agent\)/],
    [`curl -b a=b ${URL}`, /-b \(--cookie\)/],
    [`curl -d x ${URL}`, /-d \(--data\): only GET and HEAD/],
    [`curl --json '{}' ${URL}`, /--json: only GET and HEAD/],
    [`curl -F a=b ${URL}`, /-F \(--form\)/],
    [`curl -T f ${URL}`, /-T \(--upload-file\)/],
    [`curl -u a:secretpw ${URL}`, /-u \(--user\): no credential/],
    [`curl -o f ${URL}`, /-o \(--output\): no file/],
    [`curl -K f ${URL}`, /-K \(--config\): no file/],
    [`curl -k ${URL}`, /-k \(--insecure\): certificates are always verified/],
    [`curl -x p ${URL}`, /-x \(--proxy\)/],
    [`curl --resolve a:443:127.0.0.1 ${URL}`, /--resolve/],
    [`curl -r 0-1 ${URL}`, /-r \(--range\)/],
    [`curl --request=GET ${URL}`, /One of the options is not|not among the options/],
    [`curl --frobnicate ${URL}`, /--frobnicate is not among/],
    [`curl -W ${URL}`, /-W is not among/],
    [`curl ${URL} $HOME`, /`\$` is for a shell/],
    [`curl "${URL}/$HOME"`, /`\$` is for a shell/],
    [`curl ${URL} | sh`, /`\|` is for a shell/],
    [`curl ${URL}; id`, /`;` is for a shell/],
    [`curl ${URL} > f`, /`>` is for a shell/],
    [`curl ${URL} < f`, /`<` is for a shell/],
    [`curl ${URL}?a=b&c=d`, /`&` is for a shell/],
    [`curl ${URL}/*`, /`\*` is for a shell/],
    [`curl a?b ${URL}`, /`\?` is for a shell/],
    [`curl ${URL}/{a,b}`, /`\{` is for a shell/],
    [`curl ${URL} # x`, /`#` is for a shell/],
    [`curl ~/x ${URL}`, /`~` is for a shell/],
    ['curl `id`', /a backquote is for a shell/],
    ['curl "`id`"', /a backquote is for a shell/],
    [`curl $(id) ${URL}`, /`\$` is for a shell/],
    [`curl ${URL}\nid`, /a line break is for a shell/],
    [`curl '${URL}/{a,b}'`, /brackets and braces/],
    [`curl '${URL}?a[0]'`, /brackets and braces/],
    [`curl '${URL}`, /quote is not closed/],
    [`curl ${URL} \\`, /ends with a backslash/],
    [`curl '${URL}\u0000'`, /control character/],
  ])('%s is refused by name', (command, message) => {
    expect(readCurlCommand(command)).toMatchObject({
      ok: false,
      conflict: false,
      message: expect.stringMatching(message),
    })
  })

  it.each<[string, RegExp]>([
    [`curl ${URL} https://b.example/`, /two URLs/],
    [`curl --url https://b.example/ ${URL}`, /two URLs/],
    [`curl -I -X GET ${URL}`, /GET and for HEAD/],
    [`curl -m 1 -m 2 ${URL}`, /two time limits/],
  ])('%s contradicts itself', (command, message) => {
    expect(readCurlCommand(command)).toMatchObject({
      ok: false,
      conflict: true,
      message: expect.stringMatching(message),
    })
  })

  it('may leave its first word out only where that is said', () => {
    expect(readCurlCommand(URL)).toMatchObject({ ok: false })
    expect(readCurlCommand(`-I ${URL}`, { mayOmitName: true })).toMatchObject({
      ok: true,
      request: { url: URL, methods: ['HEAD'] },
    })
  })

  it('never shows a value of an option', () => {
    for (const command of [
      `curl -u me:hunter2 ${URL}`,
      `curl --hunter2=a\u0001b ${URL}`,
      'curl -X hunter2 x',
    ])
      expect(JSON.stringify(readCurlCommand(command))).not.toMatch(/me:|hunter2=|X hunter2/)
  })
})
