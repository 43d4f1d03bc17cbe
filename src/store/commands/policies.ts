// The history of the documents of policies: what stood in them before and after, who wrote it and when.
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Page, PageRequest } from '../model.ts'
import { selectPage } from '../page.ts'
import type { NewPolicyRevision, PolicyRevision, PolicyRevisionTexts } from '../ports/policies.ts'
import { appendEvent } from './audit.ts'

const FACTS = ['id', 'name', 'at', 'way', 'actorKind', 'actorId', 'note']
const REVISION = columns(FACTS)
const INSERT = insertInto('policy_revisions', [...FACTS, 'beforeText', 'afterText'])
/** Whichever replica is the first to see a text writes it down: the row of its name is locked by whoever comes. */
const NOTE = `INSERT INTO audit_marks (name, digest) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET digest = $2 WHERE audit_marks.digest <> $2 RETURNING name`

/** Writes a text down; false where it is the one that was written down last. */
export const addPolicyRevision = command({ kind: 'transaction', touches: 'records' })(function* (
  revision: NewPolicyRevision,
): Command<boolean> {
  const { id, name, at, way, actorKind, actorId, note, before, after, digest, audited } = revision
  if (!(yield* first(NOTE, `text:${name}`, digest))) return false
  yield* all(INSERT, id, name, at, way, actorKind, actorId, note, before, after)
  if (audited) {
    yield* first(NOTE, name, audited.digest)
    yield* appendEvent(audited.event, audited.acting)
  }
  return true
})

/** Without the texts, newest first. */
export const listPolicyRevisions = command({ kind: 'read' })(function* (
  name: string,
  page: PageRequest,
): Command<Page<PolicyRevision>> {
  return yield* selectPage<PolicyRevision, PolicyRevision>(
    { columns: REVISION, from: 'policy_revisions', id: 'id' },
    [['name = $', name]],
    page,
    (row) => ({ ...row }),
    ({ id }) => id,
  )
})

/** One with its texts, of this document; the newest where no id is given. */
export const getPolicyRevision = command({ kind: 'lookup' })(function* (
  name: string,
  id?: string | undefined,
): Command<PolicyRevisionTexts | undefined> {
  const row = yield* first<PolicyRevisionTexts>(
    `SELECT ${REVISION}, before_text AS before, after_text AS after FROM policy_revisions
     WHERE name = $1 AND id <= $2 ORDER BY id DESC LIMIT 1`,
    name,
    id ?? NEWEST,
  )
  return row && (id === undefined || row.id === id) ? { ...row } : undefined
})

/** Behind every id. */
const NEWEST = '~'
