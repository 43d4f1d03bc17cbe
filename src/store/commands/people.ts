// People and what they may do for an account.
import { all, type Command, command, insertInto } from '../command.ts'
import type { Membership, Person } from '../ports/identity.ts'

const INSERT_PERSON = insertInto('people', ['id', 'name', 'createdAt', 'disabledAt'])
const INSERT_MEMBER = insertInto('memberships', ['accountId', 'personId', 'role', 'admin', 'createdAt'])

/** Somebody new, with their first role. */
export const addPerson = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  person: Person
  membership: Membership
}): Command<void> {
  const { person, membership: m } = input
  yield* all(INSERT_PERSON, person.id, person.name, person.createdAt, person.disabledAt)
  yield* all(INSERT_MEMBER, m.accountId, m.personId, m.role, m.admin ? 1 : 0, m.createdAt)
})
