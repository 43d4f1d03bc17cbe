// What a run may call, as a text that people write and read: one rule a line. The gateway holds a run to it, by the capabilities that the run gets;
// hosts without a credential are named here, too.
import {
  charactersOf,
  EgressRule,
  type EgressRules,
  MAX_RULE_CHARACTERS,
  MAX_RULES,
} from '../../../schemas/egress-rule.ts'
import { findDeadRule, judgeRules, parseRule, type Rule, type RuleVerdict } from '../../egress/rules/rules.ts'
import { coversHost, type ScopedRequest } from '../../egress/scope.ts'
import { decodeUtf8Document } from '../../lib/utf8.ts'
import { CommandFailure, Exit } from '../exit.ts'
import { readInput } from '../input.ts'

/** A host that a program calls. */
export interface CalledHost {
  readonly host: string
  readonly port: number
}

export interface RunPolicy {
  /** All of them, as they were written. */
  readonly rules: EgressRules
  /** For a capability of this host; empty where no rule is for it, so that the run has nothing for it. */
  rulesFor(called: CalledHost): EgressRules
  /** Whether connections to this host pass unopened, without a credential. */
  tunnels(called: CalledHost): boolean
  judge(request: ScopedRequest): RuleVerdict
}

const TUNNEL = /^tunnel (\S+)$/

/** @throws {CommandFailure} for a line that is no rule, with its number */
export function parsePolicy(text: string, name: string): RunPolicy {
  const rules: Rule[] = []
  const tunnels: string[] = []
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const rule = line
      .replace(/(?:^|\s)#.*$/, '')
      .trim()
      .replaceAll(/\s+/g, ' ')
    if (rule === '') continue
    const host = TUNNEL.exec(rule)?.[1]
    // A tunnel is for a host that a rule could name.
    const read = EgressRule.safeParse(host === undefined ? rule : `allow * ${host}`)
    if (!read.success || host === '*' || host?.includes('/'))
      throw new CommandFailure(
        Exit.usage,
        `${name}, line ${at + 1}: ${read.error?.issues[0]?.message ?? 'a tunnel is for one host, and for every path of it'}. A line is such a rule, or \`tunnel HOST\` for a host without a credential.`,
      )
    // Whether a credential takes escaped slashes is the gateway's to know.
    const dead = findDeadRule([read.data], { allowEncodedSlash: true })
    if (dead) throw new CommandFailure(Exit.usage, `${name}, line ${at + 1}: ${dead.message}.`)
    if (host === undefined) rules.push(parseRule(read.data))
    else tunnels.push(host)
  }
  if (rules.length + tunnels.length === 0)
    throw new CommandFailure(Exit.usage, `${name} holds no rule: everything would be refused.`)
  const isFor =
    ({ host, port }: CalledHost) =>
    (rule: Rule) =>
      rule.host === undefined || coversHost(rule.host, host, port)

  const rulesFor = (called: CalledHost) => rules.filter(isFor(called)).map((rule) => rule.text)
  for (const entry of new Set(rules.map(({ host = '*' }) => host))) {
    const [host = '', port = '443'] = entry.split(':')
    const ofHost = rulesFor({ host, port: Number(port) })
    const { length } = ofHost
    if (length > MAX_RULES)
      throw new CommandFailure(
        Exit.usage,
        `${name} has ${length} rules for ${entry}, and a capability takes ${MAX_RULES}: join some with a star.`,
      )
    const characters = charactersOf([ofHost])
    if (characters > MAX_RULE_CHARACTERS)
      throw new CommandFailure(
        Exit.usage,
        `${name} has rules of ${characters} characters together for ${entry}, and a capability takes ${MAX_RULE_CHARACTERS}: shorten some with a star.`,
      )
  }

  return {
    rules: rules.map((rule) => rule.text),
    rulesFor,
    tunnels: ({ host, port }) => tunnels.some((entry) => coversHost(entry, host, port)),
    judge: (request) => judgeRules(rules, request),
  }
}

/** @throws {CommandFailure} where the file cannot be read, or holds a line that is no rule */
export async function readPolicy(file: string): Promise<RunPolicy> {
  const name = file === '-' ? 'The policy' : file
  const text = decodeUtf8Document(await readInput('policy', file))
  // What a shell of Windows writes with `>`.
  if (text === undefined || text.includes('\0'))
    throw new CommandFailure(Exit.usage, `${name} is no text in UTF-8. Save it as UTF-8, then try again.`)
  return parsePolicy(text, name)
}
