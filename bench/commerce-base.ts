// What an inspection costs against the code of another checkout: the same fixtures, in processes of their own that take turns, so that
// neither is compiled for what the other does and a busy moment hits both.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RoundOfSample } from './commerce-round.ts'
import { median, printTable, START_FLAGS } from './support.ts'

const ROUNDS = 9
/** The most that recognising more may cost. */
const TARGET = 1.2

type Round = Readonly<Record<string, RoundOfSample>>

function runRound(checkout: string): Round {
  const { status, stdout } = spawnSync(
    process.execPath,
    [...START_FLAGS, join(import.meta.dirname, 'commerce-round.ts'), checkout],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  )
  if (status !== 0) throw new Error(`inspections of ${checkout} could not be measured`)
  return JSON.parse(stdout) as Round
}

/** @param base folder of a checkout with its packages; it has to have bench/commerce-works.ts */
export function compareWithBase(base: string | undefined): void {
  if (base === undefined || !existsSync(join(base, 'bench/commerce-works.ts')))
    throw new Error(`--base: no checkout ${base ?? ''} with bench/commerce-works.ts`)
  const ours: Round[] = []
  const theirs: Round[] = []
  for (let round = 0; round < ROUNDS; round++) {
    // Whoever comes first in a pair comes second in the next.
    const turns = [
      () => ours.push(runRound(join(import.meta.dirname, '..'))),
      () => theirs.push(runRound(base)),
    ]
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) turn()
  }
  const usOf = (rounds: readonly Round[], name: string) => median(rounds.map((round) => round[name]!.us))
  const names = Object.keys(ours[0]!)
  // What the base does not recognise it does not judge either: that comparison would be of two different works.
  const alike = names.filter((name) => ours[0]![name]!.recognised === theirs[0]![name]!.recognised)
  const rows = alike.map((name) => {
    const [mine, its] = [usOf(ours, name), usOf(theirs, name)]
    return { name, mine, its, ratio: mine / its }
  })
  const sum = (pick: (row: (typeof rows)[number]) => number) =>
    rows.reduce((total, row) => total + pick(row), 0)
  const whole = sum(({ mine }) => mine) / sum(({ its }) => its)
  const rounds = ours.map((round, i) => {
    const of = (one: Round) => alike.reduce((total, name) => total + one[name]!.us, 0)
    return of(round) / of(theirs[i]!)
  })
  const [least, most] = [Math.min(...rounds), Math.max(...rounds)]
  printTable(
    `CPU of an inspection against ${base}: ${whole.toFixed(2)} times over ${alike.length} of ${names.length} samples that both recognise alike, rounds ${least.toFixed(2)} to ${most.toFixed(2)} (target: at most ${TARGET})`,
    ['sample', 'CPU us', 'base us', 'ratio'],
    rows.map(({ name, mine, its, ratio }) => [name, mine.toFixed(0), its.toFixed(0), ratio.toFixed(2)]),
  )
}
