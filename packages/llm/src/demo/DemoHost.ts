// The demo host as a chat model: rules, no weights, no network. It says what it is.
import { Stream } from "effect"
import type { ChatModel } from "../ChatModel.ts"
import { respond } from "./respond.ts"

/** Answers at once and never fails. */
export const make = (): ChatModel => ({ provider: "demo", stream: (request) => Stream.fromIterable(respond(request)) })
