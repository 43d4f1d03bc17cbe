// What is decided about an address by its spelling alone: no list knows it, nothing is like it, and its domain takes mail.
import type { EmailDecision } from '../../schemas/email.ts'
import { decide } from '../../src/email/decide.ts'
import type { Knowledge } from '../../src/email/lists.ts'
import { readAddress } from '../../src/email/reading.ts'

const NOTHING_KNOWN: Knowledge = {
  findDisposable: () => ({ result: 'not_listed', list: null, list_date: null }),
  isFree: () => false,
  isRelay: () => false,
  isRole: () => false,
  isSpecialUse: () => false,
  isNeverAsked: () => false,
  isReal: () => true,
}

export interface SpellingJudgement {
  readonly decision: EmailDecision
  /** The rule that refuses it, or the reasons that were noted; empty where there is nothing to say. */
  readonly why: string
}

export function judgeSpelling(address: string): SpellingJudgement {
  const reading = readAddress(address, NOTHING_KNOWN)
  const route = { status: 'mx', hosts: [{ host: 'mx.example', priority: 10 }], ttlSeconds: 60 } as const
  const { decision, reasons } = decide(reading, reading.syntax.ok ? route : undefined, 'unknown')
  return { decision, why: reading.syntax.ok ? reasons.join(' ') : reading.syntax.rule }
}

/** Where held-out cases and the rules part on purpose, by what they have in common. */
export const HELD_OUT_EXCEPTIONS: readonly {
  readonly because: string
  readonly decision: EmailDecision
  readonly texts: readonly string[]
}[] = [
  {
    because: 'well spelled, and drawn like another domain: review, reason confusable',
    decision: 'review',
    texts: ['user@xn--80ak6aa92e.com'],
  },
  {
    because: 'hyphens in third and fourth place are reserved (RFC 5890, 2.3.1)',
    decision: 'reject',
    texts: ['user@ab--cd.com', 'user@r3---sn.example.com'],
  },
  {
    because: 'a middle dot out of its context is registered nowhere (RFC 5892, A.3)',
    decision: 'reject',
    texts: ['user@l·a.com'],
  },
  {
    because:
      'a top-level domain alone: RFC 5321, 2.3.5 has it, mail servers refuse it (SAC 053), and mostly the rest was left out',
    decision: 'reject',
    texts: ['n@ai', 'user@com', 'пользователь@рф', 'user@xn--p1ai', '"a b"@ws'],
  },
  {
    because: 'a leading zero is octal to some readers, so it names two addresses (RFC 6943, 3.1.1)',
    decision: 'reject',
    texts: ['user@[192.000.002.001]'],
  },
  {
    because:
      ':: for one group is IPv6 (RFC 4291, 2.2), if not the grammar of RFC 5321: review, like every literal',
    decision: 'review',
    texts: ['user@[IPv6:1:2:3:4:5:6::8]', 'user@[IPv6:1:2:3:4:5::192.0.2.1]'],
  },
  {
    because: 'dots of East Asian keyboards are dots by UTS 46; the answer has them as such',
    decision: 'accept',
    texts: ['user@example。com', 'user@example．com'],
  },
]
