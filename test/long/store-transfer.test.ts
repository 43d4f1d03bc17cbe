// What test/contract/store-transfer.test.ts holds SQLite to, on PostgreSQL: slower, since each case has a database of its own.
import { describeRestores } from '../support/transfer.ts'

describeRestores('postgres')
