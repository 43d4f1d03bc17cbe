// Spelling of addresses and domains against published cases in `<data>/email`: what share of the invalid is refused, of the
// plainly valid accepted, and why each deviation is meant. `node bench/email-syntax.ts`
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readDomain } from '../src/email/domain.ts'
import { readSyntax, type SyntaxRule } from '../src/email/syntax.ts'
import { findData } from './corpora.ts'
import { printTable } from './support.ts'

const TARGET = { refused: 0.97, accepted: 0.95 }

const data = findData()
const folder = data === undefined ? undefined : join(data, 'email')
if (folder === undefined || !existsSync(folder)) {
  console.log('no data: set GATEWAY_BENCH_DATA to the folder that holds `email`')
  process.exit(0)
}
const load = <T>(name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as T

type Want = 'plain' | 'unusual' | 'invalid'
interface Case {
  readonly source: string
  readonly text: string
  readonly want: Want
  readonly rule: SyntaxRule | undefined
}

const listed =
  load<{ src: string; addr: string; want: 'mailbox' | 'special' | 'invalid' }[]>('syntax-cases.json')
type Suite = { tests: { data: unknown; valid: boolean }[] }[]
const suite = (name: string) =>
  load<Suite>(`${name}.json`).flatMap(({ tests }) =>
    tests.flatMap(({ data, valid }) => (typeof data === 'string' ? [{ text: data, valid }] : [])),
  )
const isUnusual = (text: string) => text.startsWith('"') || text.includes('@[')

const ruleOf = (text: string) => {
  const read = readSyntax(text)
  return read.ok ? undefined : read.rule
}
/** Host names stand below a top-level domain here: a domain of one part is no address's. */
const ruleOfHost = (text: string) => {
  const read = readDomain(/[.\u3002\uFF0E\uFF61]/.test(text) ? text : `${text}.com`)
  return read.ok ? undefined : read.rule
}

const cases: readonly Case[] = [
  ...listed.map(({ src, addr, want }): Case => {
    const words = { mailbox: 'plain', special: 'unusual', invalid: 'invalid' } as const
    return { source: src, text: addr, want: words[want], rule: ruleOf(addr) }
  }),
  ...['email', 'idn-email'].flatMap((name) =>
    suite(name).map(({ text, valid }): Case => {
      const want = !valid ? 'invalid' : isUnusual(text) ? 'unusual' : 'plain'
      return { source: `json-schema ${name}`, text, want, rule: ruleOf(text) }
    }),
  ),
  ...['hostname', 'idn-hostname'].flatMap((name) =>
    suite(name).map(({ text, valid }): Case => ({
      source: `json-schema ${name}`,
      text,
      want: valid ? 'plain' : 'invalid',
      rule: ruleOfHost(text),
    })),
  ),
]

/** Deviations that are meant, by what they have in common. */
const MEANT: readonly (readonly [string, (one: Case) => boolean])[] = [
  ['a display name around it: the address is offered as did_you_mean', ({ rule }) => rule === 'display_name'],
  [
    'RFC 6531 allows it, nobody can type or see it: control character',
    ({ rule }) => rule === 'control_character',
  ],
  ['RFC 6531 allows it, Unicode never assigns it', ({ rule }) => rule === 'unassigned_character'],
  [
    'well-formed literal: review, and rejected as unreachable where it is private',
    ({ want, text, rule }) => want === 'invalid' && rule === undefined && /@\[[\d.]+\]$/.test(text),
  ],
  [
    'no plain host name, but UTS 46 maps it to one',
    ({ source, rule, text }) =>
      source === 'json-schema hostname' && rule === undefined && /[^\0-\x7F]/.test(text),
  ],
]

const isRight = ({ want, rule }: Case) => (want === 'invalid') === (rule !== undefined)
const share = (some: readonly Case[]) => `${some.filter(isRight).length}/${some.length}`
const of = (source: string, want: Want) => cases.filter((one) => one.source === source && one.want === want)

printTable(
  'agreement with published cases',
  ['source', 'plain accepted', 'unusual marked', 'invalid refused'],
  [...new Set(cases.map(({ source }) => source))].map((source) => [
    source,
    share(of(source, 'plain')),
    share(of(source, 'unusual')),
    share(of(source, 'invalid')),
  ]),
)
const deviations = cases
  .filter((one) => !isRight(one))
  .map((one) => ({ ...one, why: MEANT.find(([, is]) => is(one))?.[0] }))
printTable(
  'deviations',
  ['case', 'source', 'wanted', 'rule', 'why'],
  deviations.map(({ text, source, want, rule, why }) => [
    JSON.stringify(text).slice(0, 40),
    source,
    want,
    rule ?? '-',
    why ?? 'NOT EXPLAINED',
  ]),
)

const addresses = cases.filter(({ source }) => !source.endsWith('hostname'))
const rate = (some: readonly Case[]) => some.filter(isRight).length / some.length
const refused = rate(addresses.filter(({ want }) => want === 'invalid'))
const isMeant = (one: Case) => MEANT.some(([, is]) => is(one))
// A display name or a control character is not plain.
const accepted = rate(addresses.filter((one) => one.want === 'plain' && (isRight(one) || !isMeant(one))))
const all = rate(addresses.filter(({ want }) => want === 'plain'))
const isGood =
  refused >= TARGET.refused && accepted >= TARGET.accepted && deviations.every(({ why }) => why !== undefined)
const percent = (value: number) => `${(value * 100).toFixed(1)} %`
console.log(
  `\ninvalid refused ${percent(refused)} (target ${percent(TARGET.refused)}); plainly valid accepted ${percent(accepted)} ` +
    `(target ${percent(TARGET.accepted)}), ${percent(all)} with the deviations that are meant: ${isGood ? 'met' : 'MISSED'}`,
)
if (!isGood) process.exitCode = 1
