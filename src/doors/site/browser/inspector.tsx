// The page that tests a transaction.
import { Inspector } from '../components/inspect/inspector.tsx'
import { mount } from './lib/mount.ts'

mount('inspector', Inspector)
