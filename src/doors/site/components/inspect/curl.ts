// A command of curl, as browsers and documentation give it, as the HTTP message that it sends.

/** Undefined where the text is no command of curl. Never throws, and knows nothing of a shell but its quotes. */
export function curlToHttp(text: string): string | undefined {
  const trimmed = text.trim().replace(/^\$[ \t]+/, '')
  if (!/^curl\s/.test(trimmed)) return undefined
  const words = shellWords(trimmed).slice(1)
  const fields: string[] = []
  const data: string[] = []
  let method: string | undefined
  let address: string | undefined
  let isJson = false
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const [option, attached] = splitOption(word)
    const value = () => attached ?? words[++at] ?? ''
    if (option === '-X' || option === '--request') method = value()
    else if (option === '-H' || option === '--header') fields.push(value())
    else if (option === '--url') address = value()
    else if (option === '--json') {
      data.push(value())
      isJson = true
    } else if (/^(?:-d|--data(?:-raw|-binary|-ascii|-urlencode)?)$/.test(option)) data.push(value())
    else if (WITH_VALUE.has(option)) value()
    else if (!word.startsWith('-')) address ??= word
  }
  if (address === undefined || address === '') return undefined
  const target = /^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `http://${address}`
  const hasType = fields.some((field) => /^content-type:/i.test(field))
  if (data.length > 0 && !hasType)
    fields.push(`Content-Type: ${isJson ? 'application/json' : 'application/x-www-form-urlencoded'}`)
  // A field or method with a line break in it would be another message.
  const lines = [`${method ?? (data.length > 0 ? 'POST' : 'GET')} ${target}`, ...fields].map((line) =>
    line.replaceAll(/[\r\n]+/g, ' '),
  )
  return [...lines, '', ...(data.length > 0 ? [data.join('&')] : [])].join('\n')
}

/** Options whose value is of no interest here. */
const WITH_VALUE = new Set(
  (
    '-o --output -u --user -A --user-agent -e --referer -b --cookie -c --cookie-jar -m --max-time --connect-timeout ' +
    '-w --write-out -x --proxy --cacert'
  ).split(' '),
)

/** `-XPOST` and `--request=POST` are an option and its value in one word. */
function splitOption(word: string): [option: string, value: string | undefined] {
  const long = /^(--[a-z-]+)=(.*)$/s.exec(word)
  if (long) return [long[1] ?? '', long[2]]
  const short = /^(-[XHd])(.+)$/s.exec(word)
  return short ? [short[1] ?? '', short[2]] : [word, undefined]
}

/** Words as a shell would split them: single, double and `$'...'` quotes, escapes, and lines that go on behind a backslash. */
function shellWords(text: string): string[] {
  const words: string[] = []
  const token =
    /\s*(?:\\\r?\n\s*)*((?:\$'(?:[^'\\]|\\[^])*'|'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^\n]|[^\s'"\\]|\\$)+)|\s*\\\r?\n|\s+|[^]/g
  for (const [, word] of text.matchAll(token))
    if (word !== undefined) words.push(word.replaceAll(PIECE, unquote))
  return words
}

const PIECE = /\$'((?:[^'\\]|\\[^])*)'|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])/g

const unquote = (
  _all: string,
  escaped: string | undefined,
  single: string | undefined,
  double: string | undefined,
  one: string | undefined,
): string => {
  if (escaped !== undefined)
    return escaped.replaceAll(/\\([^])/g, (_, of: string) => ({ n: '\n', t: '\t', r: '\r' })[of] ?? of)
  return (
    single ?? double?.replaceAll(/\\(["\\$`\n])/g, (_, of: string) => (of === '\n' ? '' : of)) ?? one ?? ''
  )
}
