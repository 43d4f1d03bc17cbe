// The forms in which software really shows a text, written without regard to how the gate looks for them; and parts of a secret.
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createBudget } from '../../../../src/egress/leak/budget.ts'
import { createLeakSearch } from '../../../../src/egress/leak/search.ts'
import { listValues } from '../../../../src/egress/leak/values.ts'
import { Secret } from '../../../../src/lib/secret.ts'

const searchFor = (secret: string, scheme = 'Bearer') =>
  createLeakSearch({ secrets: [new Secret(secret)], scheme })
const inspect = (secret: string, body: string | Buffer, headers: { name: string; value: string }[] = []) =>
  searchFor(secret).inspect(
    {
      statusText: 'OK',
      headers: [{ name: 'content-type', value: 'text/plain' }, ...headers],
      body: Buffer.from(body),
    },
    createBudget(1e9),
  )
const reflected = { ok: false, reason: 'reflected' }

const bytesOf = (text: string) => [...Buffer.from(text)]
const hexOf = (text: string) => Buffer.from(text).toString('hex')
const units = (text: string, form: (code: number) => string) =>
  [...text].map((char) => form(char.codePointAt(0) ?? 0)).join('')
const lines = <T>(items: readonly T[], width: number) =>
  Array.from({ length: Math.ceil(items.length / width) }, (_, i) => items.slice(i * width, (i + 1) * width))
const pad = (number: number, digits: number, base = 16) => number.toString(base).padStart(digits, '0')
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')

/** One line for each sixteen bytes: offset, then whatever `columns` makes of them. */
const dump = (text: string, columns: (bytes: number[]) => string, width = 16, base = 16, digits = 8) =>
  lines(bytesOf(text), width)
    .map((bytes, i) => `${pad(i * width, digits, base)}${columns(bytes)}`)
    .join('\n')
const printable = (bytes: number[]) =>
  bytes.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
const words = (bytes: number[], size: number, digits: number, base: number, isLittle = true) =>
  lines(bytes, size).map((word) =>
    BigInt(`0x${(isLittle ? word.toReversed() : word).map((byte) => pad(byte, 2)).join('')}`)
      .toString(base)
      .padStart(digits, '0'),
  )
/** As `x/8xh`, `x/4xw` and `x/2xg` print them. */
const debugged = (text: string, size: number) =>
  lines(
    words(bytesOf(text), size, size * 2, 16).map((word) => `0x${word}`),
    16 / size,
  )
    .map((row, i) => `0x7fffffffe${pad(i * 16, 3)}:\t${row.join('\t')}`)
    .join('\n')

function toBase58(text: string): string {
  let rest = BigInt(`0x${hexOf(text)}`)
  let out = ''
  for (; rest > 0n; rest /= 58n)
    out = `${'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'[Number(rest % 58n)]}${out}`
  return out
}
function toBase85(text: string, alphabet: string): string {
  const bytes = Buffer.concat([Buffer.from(text), Buffer.alloc((4 - (Buffer.byteLength(text) % 4)) % 4)])
  return lines([...bytes], 4)
    .map((group) => {
      let rest = Buffer.from(group).readUInt32BE(0)
      return Array.from({ length: 5 }, () => {
        const char = alphabet[rest % 85]
        rest = Math.floor(rest / 85)
        return char
      })
        .toReversed()
        .join('')
    })
    .join('')
}
function toBase32(text: string, alphabet: string): string {
  const bits = bytesOf(text)
    .map((byte) => pad(byte, 8, 2))
    .join('')
  return bits.replaceAll(/.{1,5}/g, (five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)] ?? '')
}
const reversed = (text: string) => [...text].toReversed().join('')
const rot13 = (text: string) =>
  text.replaceAll(/[a-z]/gi, (char) => {
    const first = char >= 'a' ? 97 : 65
    return String.fromCharCode(((char.charCodeAt(0) - first + 13) % 26) + first)
  })
const fullWidth = (text: string) =>
  text.replaceAll(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfe_e0))
/** Letters and digits in another style, each of which begins at a code point of its own. */
const restyled = (text: string, upper: number, lower: number, digits: number) =>
  text.replaceAll(/[a-z\d]/gi, (char) => {
    const first = /\d/.test(char) ? ['0', digits] : /[a-z]/.test(char) ? ['a', lower] : ['A', upper]
    return String.fromCodePoint(char.charCodeAt(0) - String(first[0]).charCodeAt(0) + Number(first[1]))
  })
const utf16 = (text: string) => Buffer.from(text, 'utf16le')
/** With the secret in the midst of what does not compress, so that it is in none of the first lines. */
const long = (text: string) =>
  `${randomBytes(300).toString('hex')} ${text} ${randomBytes(99).toString('hex')}`
const wrapped = (bytes: Buffer, separator: string) =>
  lines([...base64(bytes)], 76)
    .map((line) => line.join(''))
    .join(separator)
const ASCII85 = Array.from({ length: 85 }, (_, i) => String.fromCharCode(0x21 + i)).join('')
const Z85 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#'
const RFC1924 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'
const utf7 = (text: string) =>
  `+${Buffer.from(text, 'utf16le').swap16().toString('base64').replaceAll('=', '')}-`
const docker = (text: string) =>
  JSON.stringify({
    '.dockerconfigjson': base64(
      JSON.stringify({ auths: { 'ghcr.io': { username: 'robot', auth: base64(`robot:${text}`) } } }),
    ),
  })

const forms: Readonly<Record<string, (text: string) => string | Buffer>> = {
  xxd: (text) =>
    dump(
      text,
      (b) =>
        `: ${lines(b, 2)
          .map((pair) => pair.map((byte) => pad(byte, 2)).join(''))
          .join(' ')}  ${printable(b)}`,
    ),
  'xxd -b': (text) =>
    dump(text, (b) => `: ${b.map((byte) => pad(byte, 8, 2)).join(' ')}  ${printable(b)}`, 6),
  'xxd -e': (text) => dump(text, (b) => `: ${words(b, 4, 8, 16).join(' ')}  ${printable(b)}`),
  'hexdump -C': (text) =>
    dump(
      text,
      (b) =>
        `  ${lines(b, 8)
          .map((half) => half.map((byte) => pad(byte, 2)).join(' '))
          .join('  ')}  |${printable(b)}|`,
    ),
  hexdump: (text) => dump(text, (b) => ` ${words(b, 2, 4, 16).join(' ')}`, 16, 16, 7),
  od: (text) => dump(text, (b) => ` ${words(b, 2, 6, 8).join(' ')}`, 16, 8, 7),
  'od -b': (text) => dump(text, (b) => ` ${b.map((byte) => pad(byte, 3, 8)).join(' ')}`, 16, 8, 7),
  'od -c': (text) => dump(text, (b) => b.map((byte) => `   ${String.fromCharCode(byte)}`).join(''), 16, 8, 7),
  'od -t x1': (text) => dump(text, (b) => ` ${b.map((byte) => pad(byte, 2)).join(' ')}`, 16, 8, 7),
  'od -t u1': (text) => dump(text, (b) => b.map((byte) => ` ${String(byte).padStart(3)}`).join(''), 16, 8, 7),
  'od -t x8': (text) => dump(text, (b) => ` ${words(b, 8, 16, 16).join(' ')}`, 16, 8, 7),
  'words of two bytes of a debugger': (text) => debugged(text, 2),
  'words of four bytes of a debugger': (text) => debugged(text, 4),
  'words of eight bytes of a debugger': (text) => debugged(text, 8),
  'octal without padding': (text) =>
    bytesOf(text)
      .map((byte) => byte.toString(8))
      .join(', '),
  'decimal with padding and nothing between': (text) =>
    bytesOf(text)
      .map((byte) => pad(byte, 3, 10))
      .join(''),
  'a body of raw deflate': (text) => deflateRawSync(JSON.stringify({ echo: text, page: 'one '.repeat(40) })),
  'a dump in a JSON string': (text) => JSON.stringify({ core: forms.xxd?.(text) }),
  'hexadecimal with underscores': (text) =>
    bytesOf(text)
      .map((byte) => pad(byte, 2))
      .join('_'),
  'hexadecimal, one byte a line': (text) =>
    bytesOf(text)
      .map((byte) => `0x${pad(byte, 2)},`)
      .join('\n'),
  'octal escapes': (text) =>
    bytesOf(text)
      .map((byte) => `\\${pad(byte, 3, 8)}`)
      .join(''),
  'octal escapes of some': (text) =>
    text.replaceAll(/[aeiou_0-5]/g, (char) => `\\${pad(char.charCodeAt(0), 3, 8)}`),
  'u{} escapes': (text) => units(text, (code) => `\\u{${code.toString(16)}}`),
  'x{} escapes': (text) => units(text, (code) => `\\x{${code.toString(16)}}`),
  'U escapes': (text) => units(text, (code) => `\\U${pad(code, 8)}`),
  'CSS escapes': (text) => units(text, (code) => `\\${code.toString(16)} `),
  'CSS escapes of six digits': (text) => units(text, (code) => `\\${pad(code, 6)}`),
  'CSS escapes of some': (text) =>
    text.replaceAll(/[aeiou_0-5]/g, (char) => `\\${pad(char.charCodeAt(0), 6)}`),
  'UTF-7': utf7,
  'UTF-7 of some': (text) => text.replaceAll(/[aeiou_0-5]/g, utf7),
  'UTF-16LE': (text) => Buffer.from(text, 'utf16le'),
  'UTF-16BE with a mark': (text) =>
    Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(text, 'utf16le').swap16()]),
  'UTF-32': (text) => Buffer.concat(bytesOf(text).map((byte) => Buffer.from([byte, 0, 0, 0]))),
  'escaped HTML in UTF-16': (text) =>
    Buffer.from(
      units(text, (code) => `&#${code};`),
      'utf16le',
    ),
  dockerconfigjson: docker,
  'base64 of hexadecimal': (text) => base64(hexOf(text)),
  'hexadecimal of base64': (text) => hexOf(base64(text)),
  'hexadecimal, twice': (text) => hexOf(hexOf(text)),
  'base64, twice, in lines': (text) =>
    base64(`user: x\npassword: ${base64(`user:${text}`)}\n`).replaceAll(/.{64}/g, '$&\n'),
  'base64 of a JSON of escapes': (text) =>
    base64(JSON.stringify({ a: units(text, (code) => `\\u${pad(code, 4)}`) })),
  'an array of characters': (text) => JSON.stringify([...text]),
  'an array of characters, printed': (text) => JSON.stringify([...text], null, 2),
  'an object of characters': (text) => JSON.stringify(Object.fromEntries([...text].entries())),
  'an array of bytes': (text) => JSON.stringify(bytesOf(text)),
  'an object of bytes': (text) => JSON.stringify(Object.fromEntries(bytesOf(text).entries())),
  'a slice of Go': (text) => `[${bytesOf(text).join(' ')}]`,
  gzip: (text) => gzipSync(JSON.stringify({ echo: text })),
  'gzip without its end': (text) =>
    gzipSync(`{"echo":"${text}","pad":"${randomBytes(999).toString('hex')}"}`).subarray(0, -400),
  'gzip, two members': (text) => Buffer.concat([gzipSync('first'), gzipSync(text)]),
  deflate: (text) => deflateSync(text),
  brotli: (text) => brotliCompressSync(`{"echo":"${text}","pad":"${randomBytes(99).toString('hex')}"}`),
  zstd: (text) => zstdCompressSync(text),
  'gzip in base64 in JSON': (text) => JSON.stringify({ event: base64(gzipSync(text)) }),
  'deflate in base64': (text) => base64(deflateSync(`{"echo":"${text}"}`)),
  'zstd in base64': (text) => base64(zstdCompressSync(`{"echo":"${text}"}`)),
  'gzip in hexadecimal': (text) => hexOf(gzipSync(text).toString('latin1')) && gzipSync(text).toString('hex'),
  'base64, twice, after a line': (text) =>
    `The configuration\nresult\n${base64(`password: ${base64(`user:${text}`)}`)}`,
  'base64, twice, in armour': (text) =>
    `-----BEGIN MESSAGE-----\n${base64(`user: x\npassword: ${base64(`user:${text}`)}\n`).replaceAll(/.{64}/g, '$&\n')}\n-----END MESSAGE-----`,
  'base64, twice, in a path': (text) =>
    `https://app.example.com/callback/state/${Buffer.from(JSON.stringify({ auth: base64(`user:${text}`) })).toString('base64url')}`,
  'base64, twice, in short lines after a path': (text) =>
    `/v1/state/\n${base64(JSON.stringify({ a: base64(`user:${text}`) })).replaceAll(/.{4}/g, '$&\n')}`,
  'gzip in base64 in a path': (text) => `/v1/events/${base64(gzipSync(`the key is ${text}`))}`,
  'hexadecimal, twice, after a line': (text) => `digest\n${hexOf(hexOf(text))}`,
  'gzip in gzip': (text) => gzipSync(gzipSync(text)),
  'hexadecimal of UTF-16': (text) => `0x${utf16(text).toString('hex')}`,
  'words of four digits': (text) => `[${units(text, (code) => `0x${pad(code, 4)}, `)}]`,
  'names of code points': (text) => units(text, (code) => `U+${pad(code, 4)} `),
  'an array of UTF-16 bytes': (text) => JSON.stringify([...utf16(text)]),
  'base64 in UTF-16 in base64': (text) => base64(utf16(`auth ${base64(`user:${text}`)}`)),
  'hexadecimal of an assembler': (text) =>
    bytesOf(text)
      .map((byte) => `${pad(byte, 2)}h`)
      .join(', '),
  'hexadecimal of Basic': (text) =>
    bytesOf(text)
      .map((byte) => `&H${pad(byte, 2)}`)
      .join(', '),
  'decimal numbers of three digits': (text) =>
    bytesOf(text)
      .map((byte) => pad(byte, 3, 10))
      .join(' '),
  'octal numbers of Python': (text) =>
    bytesOf(text)
      .map((byte) => `0o${byte.toString(8)}`)
      .join(', '),
  'binary digits': (text) =>
    bytesOf(text)
      .map((byte) => pad(byte, 8, 2))
      .join(''),
  'calls of a function': (text) =>
    bytesOf(text)
      .map((byte) => `Chr(${byte})`)
      .join(' & '),
  'an array of Rust': (text) =>
    bytesOf(text)
      .map((byte) => `${byte}u8`)
      .join(', '),
  'an array, printed by PHP': (text) =>
    `Array\n(\n${bytesOf(text)
      .map((byte, i) => `    [${i}] => ${byte}\n`)
      .join('')})`,
  'characters, printed by PHP': (text) =>
    `Array\n(\n${[...text].map((char, i) => `    [${i}] => ${char}\n`).join('')})`,
  'a map of Go': (text) =>
    `map[${bytesOf(text)
      .map((byte, i) => `${i}:${byte}`)
      .join(' ')}]`,
  'an array of gzip': (text) => JSON.stringify(gzipSync(`the key is ${text}`)),
  'an array of base64': (text) => JSON.stringify(bytesOf(base64(`user:${text}`))),
  'a dump of base64 of base64': (text) => forms.xxd?.(base64(`auth: ${base64(`user:${text}`)}`)) ?? '',
  'deflate in a column of PostgreSQL': (text) => `\\x${deflateSync(`the key is ${text}`).toString('hex')}`,
  'deflate in a path': (text) => `/diagram/svg/${deflateSync(`the key is ${text}`).toString('base64url')}`,
  'gzip in base64 in lines in JSON': (text) =>
    JSON.stringify({ release: wrapped(gzipSync(long(text)), '\n') }),
  'gzip in base64 in lines of Windows in JSON': (text) =>
    JSON.stringify({ release: wrapped(gzipSync(long(text)), '\r\n') }),
  'gzip in base64 in YAML': (text) => `release: |\n    ${wrapped(gzipSync(long(text)), '\n    ')}\n`,
  'pieces with places to break': (text) => text.replaceAll(/.{4}/g, '$&<wbr>'),
  'highlighted characters': (text) => [...text].map((char, i) => `<b class="c${i}">${char}</b>`).join(''),
  'colours of a terminal': (text) => text.replaceAll(/.{3}/g, '$&\u001b[31m'),
  base58: toBase58,
  base32hex: (text) => toBase32(text, '0123456789ABCDEFGHIJKLMNOPQRSTUV'),
  'base32hex, in lower case, in a longer text': (text) =>
    toBase32(`key ${text} end`, '0123456789abcdefghijklmnopqrstuv'),
  'base32 of Crockford': (text) => toBase32(`k:${text}`, '0123456789ABCDEFGHJKMNPQRSTVWXYZ'),
  'base32 of Crockford in groups': (text) =>
    toBase32(text, '0123456789ABCDEFGHJKMNPQRSTVWXYZ').replaceAll(/.{4}/g, '$&-'),
  'base64 backwards': (text) => reversed(base64(`user:${text}`)),
  'base64 backwards, at another place': (text) => reversed(base64(`users:${text}`)),
  'hexadecimal backwards': (text) => reversed(hexOf(text)),
  'ROT13 of base64': (text) => rot13(base64(`user:${text}`)),
  'ROT13 of base64url': (text) => rot13(Buffer.from(`users:${text}`).toString('base64url')),
  'full-width characters': (text) => fullWidth(text),
  'full-width characters of some': (text) => text.replaceAll(/[aeiouAEIOU_0-5]/g, fullWidth),
  'full-width characters in escapes': (text) =>
    JSON.stringify(fullWidth(text)).replaceAll(/[^\0-\u007f]/g, (char) => `\\u${pad(char.charCodeAt(0), 4)}`),
  'full-width characters beside bytes that are no text': (text) =>
    Buffer.concat([Buffer.from([0xe9, 0x22]), Buffer.from(fullWidth(text))]),
  'mathematical letters': (text) => restyled(text, 0x1_d4_00, 0x1_d4_1a, 0x1_d7_ce),
  'monospaced letters, percent-encoded': (text) =>
    encodeURIComponent(restyled(text, 0x1_d6_70, 0x1_d6_8a, 0x1_d7_f6)),
  'letters in circles': (text) => restyled(text, 0x24_b6, 0x24_d0, 0x30),
  ascii85: (text) => `<~${toBase85(text, ASCII85)}~>`,
  'ascii85 in JSON': (text) => JSON.stringify(toBase85(`x: ${text}`, ASCII85)),
  z85: (text) => toBase85(text, Z85),
  base85: (text) => toBase85(`ab${text}`, RFC1924),
}

const PLAIN = 'ghp_q7Zk9Wm2Rt5Yp8VxB3nLc6Hd1Jf4Gs0TaUeK'
const SHORT = 'Zk9Wm2Rt5Yp8VxB3nL'
const AWKWARD = 'CANARY_+/=&"<>\'% \\x;q7Zk9Wm2Rt5Yp8'

describe.each([
  ['a token', PLAIN],
  ['a secret of eighteen characters', SHORT],
  ['a secret of awkward characters', AWKWARD],
])('%s is found', (_which, secret) => {
  it.each(Object.keys(forms).filter((name) => secret !== AWKWARD || name !== 'od -c'))('as %s', (name) => {
    const form = Buffer.from(forms[name]?.(secret) ?? '')
    expect(inspect(secret, form)).toMatchObject(reflected)
  })
})

it('what the tools of this machine print is found', () => {
  const input = Buffer.from(`Authorization: Bearer ${PLAIN}\r\nx: y\r\n`)
  for (const options of [
    ['-c'],
    ['-b'],
    ['-d'],
    ['-x'],
    ['-A', 'x', '-t', 'x1z'],
    ['-t', 'x4'],
    ['-t', 'x8'],
    ['-t', 'u1'],
    [],
  ]) {
    const output = execFileSync('od', options, { input })
    if (options[0] !== '-d') expect(inspect(PLAIN, output), options.join(' ')).toMatchObject(reflected)
  }
})

describe('a secret that is not of ASCII is found in its UTF-8 and its Latin-1 bytes', () => {
  const secret = 'pässwörd-ßecret-ÿ-Zk9Wm2Rt'
  it.each(Object.keys(forms).filter((name) => !/^(?:od -c|UTF-32|.*CSS escapes of some)/.test(name)))(
    'as %s',
    (name) => {
      expect(inspect(secret, Buffer.from(forms[name]?.(secret) ?? ''))).toMatchObject(reflected)
    },
  )
  it.each(Object.keys(forms).filter((name) => !/^(?:od -c|UTF-32|.*CSS escapes of some)/.test(name)))(
    'with its marks apart from their letters, as %s',
    (name) => {
      const apart = secret.normalize('NFD')
      expect(inspect(secret, Buffer.from(forms[name]?.(apart) ?? ''))).toMatchObject(reflected)
    },
  )
  it.each([
    ['paßwort-käse-bröt-mü-Ü7', 'NFD'],
    ['paßwort-käse-bröt-mü-Ü7'.normalize('NFD'), 'NFC'],
    ['비밀번호-열쇠-Zk9W', 'NFD'],
    ['ｐａｓｓ-①-ﬁ-Zk9Wm2Rt', 'NFKC'],
    ['ﬁnster-größe-Zk9Wm2Rt', 'NFKD'],
  ])('%s as Unicode writes it in %s', (own, form) => {
    const text = own.normalize(form)
    for (const body of [
      text,
      JSON.stringify({ own: text }),
      encodeURIComponent(text),
      base64(`user:${text}`),
    ])
      expect(inspect(own, body)).toMatchObject(reflected)
  })
  it.each(['NFC', 'NFD'] as const)('where the credential of Basic is one text in base64, in %s', (form) => {
    const password = 'paßwort-käse-bröt-mü-Ü7'
    for (const [encoding, other] of [
      ['utf8', form],
      ['latin1', 'NFD'],
    ] as const) {
      const search = searchFor(Buffer.from(`müller:${password}`, encoding).toString('base64'), 'Basic')
      const look = (body: string | Buffer) =>
        search.inspect({ statusText: 'OK', headers: [], body: Buffer.from(body) }, createBudget(1e9))
      const text = password.normalize(other)
      for (const body of [text, JSON.stringify({ text }), encodeURIComponent(text), base64(`müller:${text}`)])
        expect(look(body)).toMatchObject(reflected)
      // As a server shows it that takes all of it for Latin-1.
      expect(look(Buffer.from(password, encoding).toString('latin1'))).toMatchObject(reflected)
      expect(look('müller')).toEqual({ ok: true })
    }
  })
  it('in every spelling, though a form feed was pasted with it', () => {
    const pasted = 'käse-bröt\f-Ü7'
    expect(inspect(pasted, pasted.normalize('NFD'))).toMatchObject(reflected)
  })
  it('and bytes that are no text in no spelling, each of which costs as much as all of another secret', () => {
    const key = createHash('sha256').update('a key for signing').digest()
    const values = listValues(key.toString('latin1'), 'AWS4-HMAC-SHA256').map(({ bytes }) =>
      Buffer.from(bytes),
    )
    expect(values).toContainEqual(key)
    expect(values).toContainEqual(Buffer.from(key.toString('latin1')))
    expect(values.length).toBeLessThanOrEqual(4)
  })
  it('and other texts with marks of their own pass', () => {
    for (const form of ['NFC', 'NFD'])
      expect(
        inspect(
          secret,
          'Pässe, Wörter und ein größeres Käsebrot für später: früh übt sich. '.repeat(50).normalize(form),
        ),
      ).toEqual({ ok: true })
  })
  it('by the names that HTML has for its letters, and in Java', () => {
    expect(
      inspect(
        secret,
        secret
          .replaceAll('ä', '&auml;')
          .replaceAll('ö', '&ouml;')
          .replaceAll('ß', '&szlig;')
          .replaceAll('ÿ', '&yuml;'),
      ),
    ).toMatchObject(reflected)
    expect(inspect(secret, JSON.stringify([...new Int8Array(Buffer.from(secret))]))).toMatchObject(reflected)
  })
  it('beyond Latin-1', () => {
    const beyond = 'пароль-€-😀-Zk9W'
    for (const body of [
      beyond,
      Buffer.from(beyond, 'utf16le'),
      units(beyond, (code) => `&#${code};`),
      encodeURIComponent(beyond),
      JSON.stringify(beyond).replaceAll(/[^\0-\u007f]/g, (char) => `\\u${pad(char.charCodeAt(0), 4)}`),
    ])
      expect(inspect(beyond, body)).toMatchObject(reflected)
  })
})

describe('a part of a secret gives it away', () => {
  const middle = PLAIN.slice(14, 26)
  it.each([
    ['all but its last character', PLAIN.slice(0, -1)],
    ['all but its first character', PLAIN.slice(1)],
    ['its first half', PLAIN.slice(0, 20)],
    ['its second half', PLAIN.slice(20)],
    ['its last twelve characters', PLAIN.slice(-12)],
    ['its first twelve characters after the prefix', PLAIN.slice(4, 16)],
    ['twelve characters of its middle', middle],
    ['those in upper case', middle.toUpperCase()],
    ['those in hexadecimal', hexOf(middle)],
    ['those in base64', base64(`--${middle}--`)],
    ['those in base64, at another place', base64(`-${middle}-`)],
    ['those backwards', [...middle].toReversed().join('')],
    ['those in a JSON string in base64', base64(JSON.stringify({ a: `\\n${middle}\\n` }))],
    ['a mask over less than half', `${PLAIN.slice(0, 16)}****************${PLAIN.slice(-8)}`],
    ['a mask of one character', `${PLAIN.slice(0, 15)}*${PLAIN.slice(16)}`],
    ['a mask that shows eleven and eleven', `{"key":"${PLAIN.slice(0, 11)}…${PLAIN.slice(-11)}"}`],
    ['halves in two members', JSON.stringify({ first: PLAIN.slice(0, 20), second: PLAIN.slice(20) })],
    ['a dash after twelve', `${PLAIN.slice(0, 12)}-${PLAIN.slice(12)}`],
    ['a line for each character', [...PLAIN].join('\n')],
    [
      'parts in base64 and in hexadecimal',
      JSON.stringify({ a: base64(`the first: ${PLAIN.slice(4, 15)}`), b: 1, c: hexOf(PLAIN.slice(15, 26)) }),
    ],
    ['a quote and a plus between pieces', PLAIN.replaceAll(/.{5}/g, '$&" + "')],
    [
      'an element for each four characters',
      PLAIN.replaceAll(/.{4}/g, '<b>$&</b>').replaceAll(/<\/?b>/g, '|'),
    ],
  ])('%s', (_what, body) => {
    expect(inspect(PLAIN, body)).toMatchObject(reflected)
  })

  it('six characters in each member, as other writers of JSON and Python have them', () => {
    const six = lines([...PLAIN], 6).map((part) => part.join(''))
    for (const body of [
      `{ ${six.map((part, i) => `"member_${i}" : "${part}"`).join(', ')} }`,
      `{${six.map((part, i) => `'member_${i}': '${part}'`).join(', ')}}`,
      `{${six.map((part, i) => `'member_${i}' : '${part}'`).join(',\n ')}}`,
    ])
      expect(inspect(PLAIN, body), body).toMatchObject(reflected)
    expect(inspect(PLAIN, `{'${PLAIN}': 1}`)).toMatchObject(reflected)
    const quoted = "q7'Zk9Wm2':Rt5Yp8"
    expect(inspect(quoted, JSON.stringify({ quoted }))).toMatchObject(reflected)
  })

  it('a short secret in two members of JSON, or in two headers', () => {
    const [first, second] = [SHORT.slice(0, 9), SHORT.slice(9)]
    for (const body of [
      JSON.stringify({ first, second }),
      JSON.stringify({ a: { first }, b: [second] }),
      `{"first" : "${first}",\n "second": "${second}"}`,
      JSON.stringify({ second, between: 1, first }),
    ])
      expect(inspect(SHORT, body)).toMatchObject(reflected)
    expect(
      inspect(SHORT, '', [
        { name: 'x-first', value: first },
        { name: 'x-second', value: second },
      ]),
    ).toMatchObject({ where: 'headers' })
    const hex = hexOf(SHORT)
    expect(
      inspect(SHORT, '', [
        { name: 'x-first', value: hex.slice(0, 18) },
        { name: 'x-second', value: hex.slice(18) },
      ]),
    ).toMatchObject({ where: 'headers' })
  })
})

it('parts of a secret count together over the places of an answer', () => {
  const [first, second] = [PLAIN.slice(4, 15), PLAIN.slice(15, 26)]
  const etag = { name: 'etag', value: `"${first}"` }
  expect(inspect(PLAIN, JSON.stringify({ second }), [etag])).toMatchObject({
    where: 'body',
    encoding: 'parts',
  })
  expect(inspect(PLAIN, JSON.stringify({ first }), [etag])).toEqual({ ok: true })
})

it('parts that overlap do not hide others, however many they are', () => {
  const secret = `${PLAIN}Qw7Zx91KpLm3Vb8NqYtR5`
  const shown = secret.slice(4, 30)
  const overlapping = [7, 8, 9, 10, 11].flatMap((length) =>
    Array.from({ length: shown.length - length }, (_, at) => shown.slice(at, at + length)),
  )
  expect(inspect(secret, overlapping.join(' word '))).toEqual({ ok: true })
  expect(inspect(secret, [...overlapping, secret.slice(33, 44)].join(' word '))).toMatchObject(reflected)
})

describe('a secret that is groups of letters, or a key file that is not understood, has no public beginning', () => {
  it.each([
    ['an application password', 'xkqv-bzwr-jhmp-fgyt'],
    ['a licence', 'Kqzvbn-wXyTrp-QmNbvc-ZzKjhg-Tyuiqk'],
    [
      'a key file of OpenSSH',
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${'q7Zk9Wm2Rt5Yp8VxB3nLc6Hd1Jf4Gs0TaUeK'.repeat(2)}\n-----END OPENSSH PRIVATE KEY-----\n`,
    ],
  ])('%s', (_what, secret) => {
    for (const part of [secret.slice(0, -1), secret.slice(1), secret.slice(3, secret.length * 0.9)]) {
      expect(inspect(secret, part), part).toMatchObject(reflected)
      expect(inspect(secret, base64(part)), part).toMatchObject(reflected)
    }
    const frame = '-----BEGIN OPENSSH PRIVATE KEY-----\n…\n-----END OPENSSH PRIVATE KEY-----\n'
    expect(inspect(secret, `A key looks like this:\n${frame}`)).toEqual({ ok: true })
  })
})

describe('what could stand in any answer is no part of a secret', () => {
  const jwt = `${base64('{"alg":"RS256","typ":"JWT"}')}.${base64('{"iss":"https://issuer.example.com","sub":"robot"}').replaceAll('=', '')}.${randomBytes(64).toString('base64url')}`
  const stripe = `sk_live_51HqLyjWDarjtT1zd${randomBytes(70).toString('hex').slice(0, 82)}`
  it.each([
    ['less than twelve characters', PLAIN, PLAIN.slice(10, 21)],
    ['a mask over more than half', PLAIN, `${PLAIN.slice(0, 8)}********************${PLAIN.slice(-6)}`],
    [
      'the prefix of its issuer',
      'github_pat_q7Zk9Wm2Rt5Yp8VxB3nLc6Hd1Jf4',
      'a token that begins with github_pat_ is a fine-grained one',
    ],
    ['head and claims of a token', jwt, jwt.slice(0, jwt.lastIndexOf('.') + 1)],
    ['the account in a key of Stripe', stripe, '{"id":"acct_1HqLyjWDarjtT1zd"}'],
    [
      'words of a passphrase',
      'correct horse battery staple',
      'a correct horse walked by, the battery of the staple was dead',
    ],
    ['a repetition', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'],
    ['numbers in a row', '12345678901234567890', '1234567890123456'],
    ['a sentence in a name', 'production-database-password-2024', 'the production database has no password'],
  ])('%s', (_what, secret, body) => {
    expect(inspect(secret, body)).toEqual({ ok: true })
    expect(inspect(secret, JSON.stringify({ text: body }))).toEqual({ ok: true })
    expect(inspect(secret, secret)).toMatchObject(reflected)
  })

  it('the user of a Basic credential, whichever way it is written', () => {
    const secret = base64(`robot-account@example.com:${SHORT}`)
    const search = searchFor(secret, 'Basic')
    const ask = (body: string) =>
      search.inspect({ statusText: 'OK', headers: [], body: Buffer.from(body) }, createBudget(1e9))
    expect(ask('robot-account@example.com')).toEqual({ ok: true })
    expect(ask(base64('robot-account@example.com:'))).toEqual({ ok: true })
    for (const shown of [SHORT, SHORT.slice(1), secret, secret.slice(40), base64(SHORT)])
      expect(ask(shown), shown).toMatchObject(reflected)
  })
})

it('a compressed answer that holds more than is ever searched is not passed', () => {
  const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024))
  expect(() => inspect(PLAIN, bomb)).toThrow('budget')
  expect(() => inspect(PLAIN, JSON.stringify({ a: base64(bomb) }))).toThrow('budget')
  expect(inspect(PLAIN, deflateRawSync('no secret'))).toEqual({ ok: true })
})

/** What lists and strings put between characters, in the notation of languages. */
const entries: Readonly<Record<string, (text: string) => string>> = {
  'an array of characters': (text) => JSON.stringify([...text]),
  'an array on lines': (text) => JSON.stringify([...text], undefined, 2),
  'an array in a string': (text) => JSON.stringify({ value: JSON.stringify([...text]) }),
  'a list of Python': (text) => `[${[...text].map((char) => `'${char}'`).join(', ')}]`,
  'an object of characters': (text) => JSON.stringify({ ...[...text] }),
  'an array of PHP': (text) => `Array\n(\n${[...text].map((char, i) => `    [${i}] => ${char}\n`).join('')})`,
  'a list of YAML': (text) => [...text].map((char) => `  - '${char}'`).join('\n'),
  'a list of Markdown': (text) => [...text].map((char) => `* ${char}`).join('\n'),
  'values of CSV': (text) => [...text].join(','),
  'spelled out': (text) => [...text].join(' '),
  'strings with plus signs': (text) => `"${text.slice(0, 5)}" + "${text.slice(5, 9)}" + "${text.slice(9)}"`,
  'characters without a width': (text) => [...text].join('\u200b'),
  'escapes of those': (text) =>
    JSON.stringify([...text]).replaceAll(/[#@&]/g, (char) => units(char, (code) => `\\u${pad(code, 4)}`)),
}

describe('a password of which letters and digits alone are too few is found as', () => {
  it.each(Object.entries(entries))('%s', (_, form) => {
    for (const secret of ['K#9v!Qx$2m@Lp&7z', 'correct-horse-battery-9', 'q7#Zt!x9~Lw@', 'x"K#9v,!$m@Lp&7z'])
      expect(inspect(secret, `{"ok": ${form(secret)}}`), secret).toMatchObject(reflected)
  })

  it('nothing else: its letters and digits without its signs, or with others', () => {
    expect(inspect('K#9v!Qx$2m@Lp&7z', 'K9vQx2mLp7z')).toEqual({ ok: true })
    expect(inspect('K#9v!Qx$2m@Lp&7z', 'K.9v!Qx$2m~Lp&7z')).toEqual({ ok: true })
    expect(inspect('correct-horse-battery-9', 'the correct horse, battery: 9')).toEqual({ ok: true })
    expect(inspect('31415926', '[3, 1, 4, 1, 5, 9, 2, 6]')).toEqual({ ok: true })
  })
})

describe('a secret of eight to eleven bytes is found whole as', () => {
  const short: Readonly<Record<string, (text: string) => string>> = {
    'calls of Basic': (text) =>
      bytesOf(text)
        .map((byte) => `Chr(${byte})`)
        .join(' & '),
    'binary digits': (text) =>
      bytesOf(text)
        .map((byte) => pad(byte, 8, 2))
        .join(' '),
    'hexadecimal of assemblers': (text) =>
      bytesOf(text)
        .map((byte) => `${pad(byte, 2)}h`)
        .join(', '),
    'octal without padding': (text) =>
      bytesOf(text)
        .map((byte) => byte.toString(8))
        .join(', '),
    'base64 in base64': (text) => base64(base64(text)),
    'base64 in base64, without padding': (text) =>
      base64(base64(text).replaceAll('=', '')).replaceAll('=', ''),
    'an array of characters': (text) => JSON.stringify([...text]),
  }
  it.each(Object.entries(short))('%s', (_, form) => {
    for (const secret of ['h7Gq2LmZ', 'h7Gq2LmZ9', 'Zk9Wm2Rt5Yp'])
      expect(inspect(secret, `{"ok": ${form(secret)}}`), secret).toMatchObject(reflected)
  })

  it('and not in part', () => {
    expect(inspect('h7Gq2LmZ9', 'h7Gq2LmZ')).toEqual({ ok: true })
    expect(inspect('h7Gq2LmZ9', bytesOf('h7Gq2LmZ').join(', '))).toEqual({ ok: true })
  })
})
