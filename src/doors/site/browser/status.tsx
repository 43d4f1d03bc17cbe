// The page that says how the gateway does.
import { Board } from '../components/status/board.tsx'
import { mount } from './lib/mount.ts'

mount('status', Board)
