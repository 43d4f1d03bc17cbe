// A database into which data is being brought says so, until all of it is there.
import { GatewayError } from '../../core/errors.ts'
import { type Command, first } from '../command.ts'

export const UNFINISHED_TABLE = 'gateway_unfinished_restore'

/** Whether the mark is there, as an expression. */
export const IS_UNFINISHED = `to_regclass('${UNFINISHED_TABLE}') IS NOT NULL`

export const UNFINISHED =
  'A restore or a migration into this database was begun and did not end. Run it again: it begins anew. ' +
  `To begin without that data instead, remove the mark: DROP TABLE ${UNFINISHED_TABLE}.`

/** @throws {GatewayError} store_unavailable: a gateway that started now would begin an installation of its own */
export function* refuseUnfinished(): Command<void> {
  const found = yield* first<{ there: boolean }>(`SELECT ${IS_UNFINISHED} AS there`)
  if (found?.there) throw new GatewayError('store_unavailable', UNFINISHED)
}
