// Spelling of addresses and domains against published cases in `<data>/email`, and against cases that were written from the
// standards by somebody who had not seen the rules: how many of each kind are accepted, are a review, and are refused; and
// why each deviation is meant. `node bench/email-syntax.ts`
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readDomain } from '../src/email/domain.ts'
import { HELD_OUT } from '../test/data/email-held-out.ts'
import { HELD_OUT_EXCEPTIONS, judgeSpelling, type SpellingJudgement } from '../test/support/email-spelling.ts'
import { findData } from './corpora.ts'
import { printTable } from './support.ts'

/** Of the invalid refused; of the plainly valid accepted: a review is none. */
const TARGET = { refused: 0.97, accepted: 0.95 }

const data = findData()
const folder = data === undefined ? undefined : join(data, 'email')
if (folder === undefined || !existsSync(folder)) {
  console.log('no data: set GATEWAY_BENCH_DATA to the folder that holds `email`')
  process.exit(0)
}
const load = <T>(name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as T

type Want = 'plain' | 'unusual' | 'invalid'
interface Case extends SpellingJudgement {
  readonly source: string
  readonly text: string
  /** As its source has it. */
  readonly published: Want
  /** The same, but for what is valid by the letter only. */
  readonly want: Want
}

const listed =
  load<{ src: string; addr: string; want: 'mailbox' | 'special' | 'invalid' }[]>('syntax-cases.json')
type Suite = { tests: { data: unknown; valid: boolean }[] }[]
const suite = (name: string) =>
  load<Suite>(`${name}.json`).flatMap(({ tests }) =>
    tests.flatMap(({ data, valid }) => (typeof data === 'string' ? [{ text: data, valid }] : [])),
  )
const isUnusual = (text: string) => (text.startsWith('"') && !text.endsWith('>')) || text.includes('@[')
/** RFC 6531 admits controls and noncharacters by the letter; a suite that knows `valid` only cannot say what they are. */
const isByLetterOnly = (text: string) => /[\p{Cc}\p{Noncharacter_Code_Point}]/u.test(text)

const address = (source: string, text: string, published: Want): Case => ({
  source,
  text,
  published,
  want: published === 'plain' && isByLetterOnly(text) ? 'unusual' : published,
  ...judgeSpelling(text),
})
/** Host names stand below a top-level domain here: a domain of one part is no address's. */
function host(source: string, text: string, isValid: boolean): Case {
  const want = isValid ? 'plain' : 'invalid'
  const read = readDomain(/[.\u3002\uFF0E\uFF61]/.test(text) ? text : `${text}.com`)
  const judgement: SpellingJudgement = read.ok
    ? { decision: 'accept', why: '' }
    : { decision: 'reject', why: read.rule }
  return { source, text, published: want, want, ...judgement }
}

const LISTED = { mailbox: 'plain', special: 'unusual', invalid: 'invalid' } as const
const published: readonly Case[] = [
  ...listed.map(({ src, addr, want }) =>
    address(src, addr, want === 'mailbox' && isUnusual(addr) ? 'unusual' : LISTED[want]),
  ),
  ...['email', 'idn-email'].flatMap((name) =>
    suite(name).map(({ text, valid }) =>
      address(`json-schema ${name}`, text, !valid ? 'invalid' : isUnusual(text) ? 'unusual' : 'plain'),
    ),
  ),
]
const hosts = ['hostname', 'idn-hostname'].flatMap((name) =>
  suite(name).map(({ text, valid }) => host(`json-schema ${name}`, text, valid)),
)
const heldOut = HELD_OUT.map(({ text, want }) => address('held out', text, want))
/** Two careful readers of the standards could differ. */
const disputed = new Set(HELD_OUT.filter(({ why }) => why.startsWith('disputed:')).map(({ text }) => text))

/** Deviations that are meant, by what they have in common. */
const MEANT: readonly (readonly [string, (one: Case) => boolean])[] = [
  ...HELD_OUT_EXCEPTIONS.map(({ because, decision, texts }): [string, (one: Case) => boolean] => [
    because,
    (one) => one.source === 'held out' && one.decision === decision && texts.includes(one.text),
  ]),
  [
    'a mailbox by RFC 5322, 3.4, and `normalized` is the address alone',
    ({ decision, why }) => decision === 'accept' && why === 'display_name',
  ],
  [
    'well-formed literal: review, and rejected as unreachable where it is private',
    ({ published, text, decision }) =>
      published === 'invalid' && decision === 'review' && /@\[[\d.]+\]$/.test(text),
  ],
  [
    'no plain host name, but UTS 46 maps it to one',
    ({ source, decision, text }) =>
      source === 'json-schema hostname' && decision === 'accept' && /[^\0-\x7F]/.test(text),
  ],
]

const WANTED = { plain: 'accept', unusual: 'review', invalid: 'reject' } as const
const isRight = ({ want, decision }: Case) => decision === WANTED[want]
const DECISIONS = ['accept', 'review', 'reject'] as const
const count = (some: readonly Case[]) =>
  some.length === 0
    ? '-'
    : DECISIONS.map((decision) => some.filter((one) => one.decision === decision).length).join(' / ')

const cases = [...published, ...hosts, ...heldOut]
printTable(
  'cases by source: accept / review / reject',
  ['source', 'plainly valid', 'valid and unusual', 'invalid'],
  [...new Set(cases.map(({ source }) => source))].map((source) => {
    const wanted = (want: Want) => cases.filter((one) => one.source === source && one.want === want)
    return [source, count(wanted('plain')), count(wanted('unusual')), count(wanted('invalid'))]
  }),
)
const deviations = cases
  .filter((one) => !isRight(one))
  .map((one) => ({ ...one, meant: MEANT.find(([, is]) => is(one))?.[0] }))
printTable(
  'deviations',
  ['case', 'source', 'wanted as', 'here', 'rule or reasons', 'meant'],
  deviations.map(({ text, source, want, decision, why, meant }) => [
    JSON.stringify(text).slice(0, 40),
    source,
    want,
    decision,
    why || '-',
    meant ?? 'NOT EXPLAINED',
  ]),
)

const share = (some: readonly Case[], is: (one: Case) => boolean) => some.filter(is).length / some.length
const isAccepted = ({ decision }: Case) => decision === 'accept'
const isRefused = ({ decision }: Case) => decision === 'reject'
const percent = (value: number) => `${(value * 100).toFixed(1)} %`
const wanted = (some: readonly Case[], want: Want) => some.filter((one) => one.want === want)
const row = (title: string, some: readonly Case[], target = '-') => [
  title,
  some.length,
  percent(share(some, isAccepted)),
  percent(share(some, (one) => !isRefused(one))),
  percent(share(some, isRefused)),
  target,
]
const toAccept = `accepted ${percent(TARGET.accepted)}`
const toRefuse = `refused ${percent(TARGET.refused)}`
const settled = heldOut.filter(({ text }) => !disputed.has(text))
printTable(
  'addresses: accepted is the decision accept, of a domain that takes mail and is on no list',
  ['kind', 'cases', 'accepted', 'not refused', 'refused', 'target'],
  [
    row('published, plainly valid', wanted(published, 'plain'), toAccept),
    row(
      '  with controls and noncharacters, which are valid by the letter',
      published.filter((one) => one.published === 'plain'),
    ),
    row('published, valid and unusual', wanted(published, 'unusual')),
    row('published, invalid', wanted(published, 'invalid'), toRefuse),
    row('held out, plainly valid', wanted(heldOut, 'plain'), toAccept),
    row('  without the disputed', wanted(settled, 'plain')),
    row('held out, valid and unusual', wanted(heldOut, 'unusual')),
    row('  without the disputed', wanted(settled, 'unusual')),
    row('held out, invalid', wanted(heldOut, 'invalid'), toRefuse),
    row('  without the disputed', wanted(settled, 'invalid')),
  ],
)
const isGood =
  [published, heldOut].every(
    (some) =>
      share(wanted(some, 'plain'), isAccepted) >= TARGET.accepted &&
      share(wanted(some, 'invalid'), isRefused) >= TARGET.refused,
  ) && deviations.every(({ meant }) => meant !== undefined)
console.log(`\nof the plainly valid accepted, of the invalid refused: ${isGood ? 'met' : 'MISSED'}`)
if (!isGood) process.exitCode = 1
