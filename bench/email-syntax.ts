// Spelling of addresses and domains against published cases in `<data>/email`: how many of each kind pass, pass with a mark
// that makes them a review, and are refused; and why each deviation is meant. `node bench/email-syntax.ts`
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readDomain } from '../src/email/domain.ts'
import { readSyntax, type SyntaxRule } from '../src/email/syntax.ts'
import { findData } from './corpora.ts'
import { printTable } from './support.ts'

/** Of the invalid refused; of the plainly valid not refused: they pass, or are a review that says why. */
const TARGET = { refused: 0.97, kept: 0.95 }

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
  /** As far as spelling decides; what it accepts, DNS and lists may still reject. */
  readonly outcome: 'accept' | 'review' | 'refused'
}

const listed =
  load<{ src: string; addr: string; want: 'mailbox' | 'special' | 'invalid' }[]>('syntax-cases.json')
type Suite = { tests: { data: unknown; valid: boolean }[] }[]
const suite = (name: string) =>
  load<Suite>(`${name}.json`).flatMap(({ tests }) =>
    tests.flatMap(({ data, valid }) => (typeof data === 'string' ? [{ text: data, valid }] : [])),
  )
const isUnusual = (text: string) => (text.startsWith('"') && !text.endsWith('>')) || text.includes('@[')

const judge = (text: string): Pick<Case, 'rule' | 'outcome'> => {
  const read = readSyntax(text)
  if (!read.ok) return { rule: read.rule, outcome: 'refused' }
  const isMarked = read.isDisplayForm || read.isQuoted || read.literal !== undefined
  const rule = read.oddity?.rule ?? (read.isDisplayForm ? 'display_name' : undefined)
  return { rule, outcome: isMarked || read.oddity ? 'review' : 'accept' }
}
/** Host names stand below a top-level domain here: a domain of one part is no address's. */
const judgeHost = (text: string): Pick<Case, 'rule' | 'outcome'> => {
  const read = readDomain(/[.\u3002\uFF0E\uFF61]/.test(text) ? text : `${text}.com`)
  return read.ok ? { rule: undefined, outcome: 'accept' } : { rule: read.rule, outcome: 'refused' }
}

const cases: readonly Case[] = [
  ...listed.map(({ src, addr, want }): Case => {
    const words = {
      mailbox: isUnusual(addr) ? 'unusual' : 'plain',
      special: 'unusual',
      invalid: 'invalid',
    } as const
    return { source: src, text: addr, want: words[want], ...judge(addr) }
  }),
  ...['email', 'idn-email'].flatMap((name) =>
    suite(name).map(({ text, valid }): Case => {
      const want = !valid ? 'invalid' : isUnusual(text) ? 'unusual' : 'plain'
      return { source: `json-schema ${name}`, text, want, ...judge(text) }
    }),
  ),
  ...['hostname', 'idn-hostname'].flatMap((name) =>
    suite(name).map(({ text, valid }): Case => ({
      source: `json-schema ${name}`,
      text,
      want: valid ? 'plain' : 'invalid',
      ...judgeHost(text),
    })),
  ),
]

/** Deviations that are meant, by what they have in common. */
const MEANT: readonly (readonly [string, (one: Case) => boolean])[] = [
  [
    'review, reason display_name: the address inside is checked and offered (the suite has it both ways, by option)',
    ({ rule, outcome }) => rule === 'display_name' && outcome === 'review',
  ],
  [
    'review, reason unusual_character: RFC 6531 allows it, nobody can type or see it',
    ({ rule, outcome }) => rule !== undefined && outcome === 'review',
  ],
  [
    'well-formed literal: review, and rejected as unreachable where it is private',
    ({ want, text, outcome }) => want === 'invalid' && outcome === 'review' && /@\[[\d.]+\]$/.test(text),
  ],
  [
    'no plain host name, but UTS 46 maps it to one',
    ({ source, outcome, text }) =>
      source === 'json-schema hostname' && outcome === 'accept' && /[^\0-\x7F]/.test(text),
  ],
]

/** As a published case wants it: nothing that is valid refused, and nothing that is plain made a review. */
const isRight = ({ want, outcome }: Case) =>
  want === 'invalid' ? outcome === 'refused' : want === 'plain' ? outcome === 'accept' : outcome === 'review'
const OUTCOMES = ['accept', 'review', 'refused'] as const
/** How many of each outcome. */
const count = (some: readonly Case[]) =>
  some.length === 0
    ? '-'
    : OUTCOMES.map((outcome) => some.filter((one) => one.outcome === outcome).length).join(' / ')
const of = (source: string, want: Want) => cases.filter((one) => one.source === source && one.want === want)

printTable(
  'published cases: accept / review / refused by spelling',
  ['source', 'plainly valid', 'valid and unusual', 'invalid'],
  [...new Set(cases.map(({ source }) => source))].map((source) => [
    source,
    count(of(source, 'plain')),
    count(of(source, 'unusual')),
    count(of(source, 'invalid')),
  ]),
)
const deviations = cases
  .filter((one) => !isRight(one))
  .map((one) => ({ ...one, why: MEANT.find(([, is]) => is(one))?.[0] }))
printTable(
  'deviations',
  ['case', 'source', 'published as', 'here', 'rule', 'why'],
  deviations.map(({ text, source, want, outcome, rule, why }) => [
    JSON.stringify(text).slice(0, 40),
    source,
    want,
    outcome,
    rule ?? '-',
    why ?? 'NOT EXPLAINED',
  ]),
)

const addresses = cases.filter(({ source }) => !source.endsWith('hostname'))
const shareOf = (want: Want, is: (one: Case) => boolean) => {
  const wanted = addresses.filter((one) => one.want === want)
  return wanted.filter(is).length / wanted.length
}
const refused = shareOf('invalid', ({ outcome }) => outcome === 'refused')
const kept = shareOf('plain', ({ outcome }) => outcome !== 'refused')
const accepted = shareOf('plain', ({ outcome }) => outcome === 'accept')
const isGood =
  refused >= TARGET.refused && kept >= TARGET.kept && deviations.every(({ why }) => why !== undefined)
const percent = (value: number) => `${(value * 100).toFixed(1)} %`
console.log(
  `\nof the invalid, refused ${percent(refused)} (target ${percent(TARGET.refused)}); of the plainly valid, not refused ` +
    `${percent(kept)} (target ${percent(TARGET.kept)}), ${percent(accepted)} without any review: ${isGood ? 'met' : 'MISSED'}`,
)
if (!isGood) process.exitCode = 1
