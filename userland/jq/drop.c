/* SPDX-License-Identifier: Apache-2.0 */

/*
 * block_drop_unreferenced() of src/compile.c, once from the program to what it refers to; jq's own asks for each
 * definition whether any other refers to it, until none is dropped any more, which takes most of the start of a jq whose
 * definitions are parsed already. What is dropped is neither freed nor written to: it belongs to the snapshot, whose
 * pages are copied when they are written.
 */
static int pass; /* what inst.kept is after this one: modules are gone through twice */

static void keep(block b)
{
    for (inst *i = b.first; i; i = i->next) {
        inst *to = i->bound_by;

        keep(i->subfn);
        keep(i->arglist);
        if (to && to != i && to->kept != pass) {
            to->kept = pass;
            keep(to->subfn);
            keep(to->arglist);
        }
    }
}

block block_drop_unreferenced(block body)
{
    inst *program = body.first;
    block kept = gen_noop();

    while (program && program->op != TOP)
        program = program->next;
    if (!program)
        return body;
    pass++;
    keep((block){program, body.last});
    for (inst *i = body.first, *next; i != program; i = next) {
        next = i->next;
        if (i->kept == pass) {
            i->next = i->prev = 0;
            kept = block_join(kept, inst_block(i));
        }
    }
    program->prev = 0;
    return block_join(kept, (block){program, body.last});
}
