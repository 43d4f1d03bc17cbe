// A curl command as data: it is split as a POSIX shell would split it, never run, and nothing is expanded. Whatever a shell or
// curl would do beyond one plain GET or HEAD is refused by name.

export interface ShellWord {
  readonly text: string
  /** Characters that a shell would act on instead of passing them through, in order. */
  readonly specials: readonly string[]
}

export type ShellWords =
  | { readonly ok: true; readonly words: readonly ShellWord[] }
  | { readonly ok: false; readonly reason: 'open_quote' | 'open_escape' }

const OPERATORS = new Set(['$', '`', ';', '|', '&', '<', '>', '(', ')', '*', '?', '[', ']', '{', '}', '\n'])
/** Special at the beginning of a word alone. */
const OPENERS = new Set(['#', '~'])

/** @returns the words of a command line; what a shell would expand stays as it is written and is listed beside the word */
export function splitCommand(command: string): ShellWords {
  const words: ShellWord[] = []
  let word: { text: string; specials: string[] } | undefined
  let quote = ''
  // A command separator belongs to no word; it is listed with the word that it follows.
  const here = () => (word ??= { text: '', specials: [] })
  const end = () => {
    if (word) words.push(word)
    word = undefined
  }
  for (let i = 0; i < command.length; i++) {
    const char = command.charAt(i)
    if (quote === "'") {
      if (char === "'") quote = ''
      else here().text += char
    } else if (char === '\\') {
      const next = command[++i]
      if (next === undefined) return { ok: false, reason: 'open_escape' }
      if (next === '\n') continue
      // A backslash between double quotes escapes only what is special there (POSIX 2.2.3).
      here().text += quote === '' || '$`"\\'.includes(next) ? next : `\\${next}`
    } else if (char === quote) quote = ''
    else if (quote === '"') {
      if (char === '$' || char === '`') here().specials.push(char)
      here().text += char
    } else if (char === '"' || char === "'") {
      quote = char
      here()
    } else if (char === '\n') {
      end()
      words.push({ text: '', specials: ['\n'] })
    } else if (/\s/.test(char)) end()
    else {
      if (OPERATORS.has(char) || (word === undefined && OPENERS.has(char))) here().specials.push(char)
      here().text += char
    }
  }
  if (quote !== '') return { ok: false, reason: 'open_quote' }
  end()
  return { ok: true, words }
}

export interface CurlRequest {
  readonly url: string
  /** Methods that the command names; empty where it names none. */
  readonly methods: readonly ('GET' | 'HEAD')[]
  /** The value of `--max-time`. */
  readonly timeoutMs: number | undefined
}

export type CurlReading =
  | { readonly ok: true; readonly request: CurlRequest }
  /** `message` names what is refused and says what to do; it quotes no value. */
  | { readonly ok: false; readonly conflict: boolean; readonly message: string }

const NO_BODY = 'only GET and HEAD without a body are sent'
const NO_CREDENTIAL = 'no credential is sent; gateway.egress.fetch makes requests that need one'
const NO_FILE = 'no file is read or written; the answer comes back as JSON'
const NO_HEADER = 'request headers cannot be chosen'
const OWN_ROUTE = 'the gateway resolves and connects by itself'
const VERIFIED = 'certificates are always verified against the public authorities'
const ONE_REQUEST = 'one request is made, once'

type Action = 'ignored' | 'method' | 'head' | 'timeout' | 'url' | 'globoff'
/** Letter, name, and what is done with it; a sentence is why it is refused. */
type Option = readonly [short: string, long: string, action: Action | (string & {})]
const ACTIONS = new Set<string>(['ignored', 'method', 'head', 'timeout', 'url', 'globoff'])

const OPTIONS: readonly Option[] = [
  ['', 'url', 'url'],
  ['X', 'request', 'method'],
  ['I', 'head', 'head'],
  ['m', 'max-time', 'timeout'],
  ['g', 'globoff', 'globoff'],
  ['s', 'silent', 'ignored'],
  // Moves the data into the query, and there is no data.
  ['G', 'get', 'ignored'],
  ['S', 'show-error', 'ignored'],
  ['i', 'include', 'ignored'],
  ['v', 'verbose', 'ignored'],
  ['q', 'disable', 'ignored'],
  ['N', 'no-buffer', 'ignored'],
  ['#', 'progress-bar', 'ignored'],
  ['', 'no-progress-meter', 'ignored'],
  ['', 'compressed', 'ignored'],
  ['', 'http1.1', 'ignored'],
  ['', 'tlsv1.2', 'ignored'],
  ['L', 'location', 'redirects are never followed; the answer says where one leads'],
  ['', 'location-trusted', 'redirects are never followed; the answer says where one leads'],
  ['', 'max-redirs', 'redirects are never followed; the answer says where one leads'],
  ['d', 'data', NO_BODY],
  ['', 'data-raw', NO_BODY],
  ['', 'data-binary', NO_BODY],
  ['', 'data-ascii', NO_BODY],
  ['', 'data-urlencode', NO_BODY],
  ['', 'json', NO_BODY],
  ['F', 'form', NO_BODY],
  ['', 'form-string', NO_BODY],
  ['T', 'upload-file', NO_BODY],
  ['H', 'header', NO_HEADER],
  ['A', 'user-agent', NO_HEADER],
  ['e', 'referer', NO_HEADER],
  ['b', 'cookie', NO_HEADER],
  ['z', 'time-cond', NO_HEADER],
  ['r', 'range', 'answers are asked for whole; max_bytes says where to cut'],
  ['C', 'continue-at', 'answers are asked for whole; max_bytes says where to cut'],
  ['', 'max-filesize', 'max_bytes says where to cut'],
  ['', 'connect-timeout', 'there is one deadline; --max-time sets it'],
  ['u', 'user', NO_CREDENTIAL],
  ['n', 'netrc', NO_CREDENTIAL],
  ['', 'oauth2-bearer', NO_CREDENTIAL],
  ['', 'aws-sigv4', NO_CREDENTIAL],
  ['E', 'cert', NO_CREDENTIAL],
  ['', 'key', NO_CREDENTIAL],
  ['c', 'cookie-jar', NO_FILE],
  ['o', 'output', NO_FILE],
  ['O', 'remote-name', NO_FILE],
  ['J', 'remote-header-name', NO_FILE],
  ['D', 'dump-header', NO_FILE],
  ['K', 'config', NO_FILE],
  ['w', 'write-out', NO_FILE],
  ['', 'output-dir', NO_FILE],
  ['', 'create-dirs', NO_FILE],
  ['k', 'insecure', VERIFIED],
  ['', 'cacert', VERIFIED],
  ['', 'capath', VERIFIED],
  ['x', 'proxy', OWN_ROUTE],
  ['', 'preproxy', OWN_ROUTE],
  ['', 'socks5', OWN_ROUTE],
  ['', 'socks5-hostname', OWN_ROUTE],
  ['', 'resolve', OWN_ROUTE],
  ['', 'connect-to', OWN_ROUTE],
  ['', 'doh-url', OWN_ROUTE],
  ['', 'dns-servers', OWN_ROUTE],
  ['', 'interface', OWN_ROUTE],
  ['', 'unix-socket', OWN_ROUTE],
  ['4', 'ipv4', OWN_ROUTE],
  ['6', 'ipv6', OWN_ROUTE],
  ['0', 'http1.0', 'HTTP/1.1 is spoken'],
  ['', 'http2', 'HTTP/1.1 is spoken'],
  ['', 'http3', 'HTTP/1.1 is spoken'],
  ['f', 'fail', 'answers of every status are delivered'],
  ['', 'fail-with-body', 'answers of every status are delivered'],
  ['', 'retry', ONE_REQUEST],
  [':', 'next', ONE_REQUEST],
  ['Z', 'parallel', ONE_REQUEST],
]
const byLetter = new Map(OPTIONS.flatMap((option) => (option[0] === '' ? [] : [[option[0], option]])))
const byName = new Map(OPTIONS.map((option) => [option[1], option]))

const TAKES_VALUE = new Set<string>(['method', 'timeout', 'url'])
const NAMES: Readonly<Record<string, string>> = { '\n': 'a line break', '`': 'a backquote' }

/** @param options.mayOmitName the text may begin after the word `curl` */
export function readCurlCommand(command: string, options: { mayOmitName?: boolean } = {}): CurlReading {
  const split = splitCommand(command.trim())
  if (!split.ok)
    return refuse(
      split.reason === 'open_quote' ? 'A quote is not closed' : 'The command ends with a backslash',
    )
  const special = split.words.flatMap(findSpecial)[0]
  if (special !== undefined)
    return refuse(
      `${special} is for a shell to act on, and no shell runs here: put the URL between single quotes`,
    )
  const control = split.words.some(({ text }) => /\p{Cc}/u.test(text))
  if (control) return refuse('The command holds a control character')
  const words = split.words.map(({ text }) => text)
  if (words[0] === 'curl') words.shift()
  else if (!options.mayOmitName) return refuse('The command must begin with curl')
  return readWords(words)
}

/** A question mark in a bare URL would only match a folder named `https:`, so every shell passes it on. */
function findSpecial({ text, specials }: ShellWord): string[] {
  const isUrl = /^https?:\/\//.test(text)
  return specials.flatMap((char) => (isUrl && char === '?' ? [] : [NAMES[char] ?? `\`${char}\``]))
}

function readWords(words: readonly string[]): CurlReading {
  const urls: string[] = []
  const methods: ('GET' | 'HEAD')[] = []
  const timeouts: number[] = []
  let isGlobbing = true
  let isOptions = true
  const left = [...words]
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (!isOptions || word === '-' || !word.startsWith('-')) {
      urls.push(word)
      continue
    }
    if (word === '--') {
      isOptions = false
      continue
    }
    // `-sXGET` is `-s -X GET`: letters up to the first that takes a value, which may follow without a space.
    for (let letters = word.startsWith('--') ? '' : word.slice(1), first = true; first || letters !== '';) {
      first = false
      const letter = letters[0]
      const shown = letter === undefined ? word : `-${letter}`
      const option = letter === undefined ? byName.get(word.slice(2)) : byLetter.get(letter)
      letters = letters.slice(1)
      if (!option) return refuse(`${nameOf(shown)} is not among the options that are understood`)
      const [, long, action] = option
      if (!ACTIONS.has(action)) return refuse(`Leave out ${shown}${longOf(shown, long)}: ${action}`)
      let value = ''
      if (TAKES_VALUE.has(action)) {
        const given = letters === '' ? left.shift() : letters
        letters = ''
        if (given === undefined) return refuse(`${shown} needs a value`)
        value = given
      }
      if (action === 'url') urls.push(value)
      else if (action === 'head') methods.push('HEAD')
      else if (action === 'globoff') isGlobbing = false
      else if (action === 'method') {
        if (value !== 'GET' && value !== 'HEAD')
          return refuse(`${shown} may be GET or HEAD, in upper case: curl sends it as it is written`)
        methods.push(value)
      } else if (action === 'timeout') {
        if (!/^\d{1,4}(?:\.\d{1,3})?$/.test(value)) return refuse(`${shown} must be a number of seconds`)
        timeouts.push(Math.round(Number(value) * 1000))
      }
    }
  }
  const [url, ...moreUrls] = urls
  if (url === undefined) return refuse('The command names no URL')
  if (moreUrls.some((other) => other !== url)) return conflict('The command names two URLs')
  if (new Set(methods).size > 1) return conflict('The command asks for GET and for HEAD')
  if (new Set(timeouts).size > 1) return conflict('The command sets two time limits')
  if (isGlobbing && /[[\]{}]/.test(url))
    return refuse('curl would take brackets and braces in the URL for a pattern: percent-encode them')
  return { ok: true, request: { url, methods: [...new Set(methods)], timeoutMs: timeouts[0] } }
}

const refuse = (message: string): CurlReading => ({ ok: false, conflict: false, message })
const conflict = (message: string): CurlReading => ({ ok: false, conflict: true, message })

const longOf = (shown: string, long: string) => (shown === `--${long}` ? '' : ` (--${long})`)
/** An option is the caller's own text: shown only where it looks like one. */
const nameOf = (option: string) => (/^--?[\w#:.-]{1,32}$/.test(option) ? option : 'One of the options')
