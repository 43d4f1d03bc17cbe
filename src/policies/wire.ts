// Policies and their history as tools answer them.
import type { z } from 'zod'
import type {
  PolicyDryRun,
  PolicyRevisionRecord,
  PolicyState,
  PolicyStatement,
} from '../../schemas/policy.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { PolicyRevision } from '../store/ports.ts'
import type { DryRun, PolicyText } from './ports.ts'
import { GAPS, type Statement, toSentence } from './statements.ts'

type Wire<T extends z.ZodType> = z.infer<T>

export const toStatement = (statement: Statement): Wire<typeof PolicyStatement> => ({
  ...statement,
  text: toSentence(statement),
})

export const toPolicyState = ({ problems, statements, ...text }: PolicyText): PolicyState => ({
  ...text,
  problems: [...problems],
  statements: statements.map(toStatement),
})

export const toDryRun = ({ since, counts, changes, gaps, judged }: DryRun): PolicyDryRun => ({
  judged,
  since: since === null ? null : toTimestamp(since),
  counts: { ...counts },
  changes: changes.map(({ at, what, before, after }) => ({
    at: toTimestamp(at),
    what,
    before: { ...before, reasons: [...before.reasons] },
    after: { ...after, reasons: [...after.reasons] },
  })),
  gaps: gaps.map((code) => ({
    code,
    text: Object.hasOwn(GAPS, code) ? GAPS[code as keyof typeof GAPS] : code,
  })),
})

export const toRevisionRecord = (revision: PolicyRevision): PolicyRevisionRecord => ({
  revision_id: revision.id,
  at: toTimestamp(revision.at),
  way: revision.way,
  by: { kind: revision.actorKind, id: revision.actorId },
  note: revision.note,
})
