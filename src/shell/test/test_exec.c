/* SPDX-License-Identifier: Apache-2.0 */

/* Invariant 2 of shell.h: after any command, whatever its flow, everything that it took is given back. */

#include "base/mem.h"
#include "base/test/test.h"
#include "shell/shell_int.h"
#include "shell/test/in_shell.h"

struct state {
    char *p;
    struct frame *frame;
    uint32_t func_depth, source_depth, eval_depth, loop_depth, fds, procs, procsubs;
    int errexit_off;
};

static struct state state_of(struct shell *sh)
{
    struct state s = {sh->scratch.p,  sh->frame, sh->func_depth,     sh->source_depth, sh->eval_depth,
                      sh->loop_depth, 0,         proc_count(sh->ps), sh->n_procsub,    sh->errexit_off};
    for (int fd = 0; fd < 64; fd++)
        s.fds += proc_get(sh->p, fd) != NULL;
    return s;
}

static void check_state(struct shell *sh, const struct state *was, const char *script)
{
    struct state is = state_of(sh);
    bool same = is.p == was->p && is.frame == was->frame && is.func_depth == was->func_depth &&
                is.source_depth == was->source_depth && is.eval_depth == was->eval_depth &&
                is.loop_depth == was->loop_depth && is.fds == was->fds && is.procs == was->procs &&
                is.procsubs == was->procsubs && is.errexit_off == was->errexit_off;
    if (!CHECK(same))
        printf("# after: %s\n", script);
}

/* Each leaves by another way: plain, by an error in every kind of place, by break, return, and by an abandoned line. */
static const char *const scripts[] = {
    "echo a; x=1; y=$x; unset x y",
    "for i in 1 2 3; do break; done; while :; do break; done; until false; do break; done",
    "for i in 1 2; do for j in a b; do continue 2; done; done",
    "f() { local a=1 b=2; return 3; }; f; unset -f f",
    "f() { for i in 1 2; do while :; do return; done; done; }; f x y z; unset -f f",
    "f() { x=$((1/0)); }; f; unset -f f",
    "f() { local x=1; g() { local x=2; echo $((1/0)); }; g; }; f; unset -f f g",
    "{ { echo a; } > /tmp/a; } > /tmp/b; echo $((1/0)) > /tmp/c",
    "while :; do echo ${x:?gone}; done > /tmp/d",
    "echo a > /nonexistent/b; cat < /nonexistent/c; { :; } < /nonexistent/d",
    "f() { :; } > /nonexistent/e; f; unset -f f",
    "echo $(echo $(echo $((1/0)))); x=$(exit 3); unset x",
    "(exit 3); (f() { return 5; }; f); ( ( ( exit 1 ) ) )",
    "echo a | cat | cat > /tmp/e; false | true | (exit 4); echo x | { read y; echo $y; }; unset y",
    "cat <(echo a) <(echo b) > /tmp/f; : > >(cat > /tmp/g)",
    "A=1 B=2 eval 'A=3; echo $B'; C=1 true; D=1 cat < /dev/null; E=1 nosuchcommand; F=$((1/0)) true",
    "eval 'if'; eval 'echo \"'; eval 'echo $((1/0)); echo b'; . /nonexistent; eval 'eval \"eval false\"'",
    "case a in a) echo x;& b) break;; esac; case $((1/0)) in x) :;; esac",
    "select x in a b; do break; done <<< 1; select y in a; do echo $((1/0)); done <<< 1; unset x y",
    "[[ a =~ (b ]]; [[ $((1/0)) == x ]]; ((1/0)); for ((i=0; i<1/0; i++)); do :; done; unset i",
    "if ! { echo $((1/0)); }; then :; fi; true && { false || echo $((1/0)); }; ! (exit 1)",
    "exec 9> /tmp/h; exec 9>&-; exec {v}> /tmp/i; exec {v}>&-; unset v",
    "cat <<E; cat <<< x > /tmp/j\n$(echo in) $((1+1))\nE\n",
    "trap 'echo t; return 3 2>/dev/null' ERR; false; f() { false; }; f; trap - ERR; unset -f f",
    "trap 'x=1' DEBUG; f() { echo a; }; f; for i in 1; do :; done; trap - DEBUG; unset x i; unset -f f",
    "sleep 0.001 & wait; sleep 0.001 & wait $!; (exit 3) & wait -n; jobs; { echo a | cat; } & wait",
    "declare -a a=(1 $((1/0)) 3); declare -A m=([x]=$((1/0))); unset a m; readonly -p > /tmp/k",
    "f() { local -n r=$1; r=5; }; f z; unset -f f; unset z; f() { local -; set -f; }; f; unset -f f",
    "command nosuch; command echo a; builtin nosuch; type nosuch; hash -r; hash nosuch",
    "nosuch | nosuch | cat; nosuch > /tmp/l 2>&1; ./nosuch; /",
};

static void all_leave_nothing(struct shell *sh)
{
    uint32_t opts = sh->opts;
    (void)exec_text(sh, STR("exec 2>/dev/null"), 1, NULL);
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        uint64_t used[2] = {0};
        for (int round = 0; round < 40; round++) {
            struct state was = state_of(sh);
            struct arena_mark m = arena_mark(&sh->scratch);
            (void)exec_text(sh, str_c(scripts[i]), 1, NULL);
            arena_reset(&sh->scratch, m);
            sh->flow = FLOW_NONE;
            sh->opts = opts;
            (void)exec_text(sh, STR("wait"), 1, NULL);
            check_state(sh, &was, scripts[i]);
            if (round == 19)
                used[0] = mem_current()->used;
        }
        used[1] = mem_current()->used;
        /* Tables may have grown, but not with each run. */
        if (!CHECK(used[1] <= used[0] + 512))
            printf("# %zu bytes more after 20 runs of: %s\n", (size_t)(used[1] - used[0]), scripts[i]);
    }
}

TEST(commands_leave_nothing_behind)
{
    in_shell(all_leave_nothing);
}

static void clones(struct shell *sh)
{
    (void)exec_text(sh, STR("a=1; b=(1 2 3); f() { echo f; }; trap 'echo t' USR1; set -- x y"), 1, NULL);
    struct proc *child;
    CHECK_INT(proc_fork_inline(sh->p, &child), 0);
    struct vartab *vars = sh->vars;
    struct shell *c = shell_clone(sh, child);
    CHECK(c->vars == vars);
    (void)exec_text(c, STR("a=2; b[1]=x; f() { echo g; }; trap - USR1; set -- z; unset PATH"), 1, NULL);
    CHECK(c->vars != vars);
    CHECK_STR(var_get(c, "a"), STR("2"));
    CHECK_STR(var_get(sh, "a"), STR("1"));
    CHECK(var_get(sh, "PATH").p != NULL);
    CHECK_INT(sh->args->n, 2);
    CHECK_INT(c->args->n, 1);
    CHECK(func_find(c, STR("f")) != func_find(sh, STR("f")));
    struct outcome o = shell_finish(c);
    shell_free(c);
    (void)proc_end_inline(child, o);
    CHECK_INT(vars->refs, 1);
}

TEST(a_clone_shares_until_it_writes)
{
    in_shell(clones);
}

static void flows(struct shell *sh)
{
    (void)exec_text(sh, STR("exec 2>/dev/null"), 1, NULL);
    CHECK_INT(exec_text(sh, STR("f() { return 3; }; f"), 1, NULL), 3);
    CHECK_INT(sh->flow, FLOW_NONE);
    /* An abandoned line goes on with the next one of the same text. */
    CHECK_INT(exec_text(sh, STR("x=$((1/0)); y=1\nz=2"), 1, NULL), 0);
    CHECK(var_get(sh, "y").p == NULL);
    CHECK_STR(var_get(sh, "z"), STR("2"));
    CHECK_INT(exec_text(sh, STR("set -e; false || true; if false; then :; fi; ! true; echo ok"), 1, NULL), 0);
    CHECK_INT(sh->flow, FLOW_NONE);
    CHECK_INT(exec_text(sh, STR("f() { false; }; f"), 1, NULL), 1);
    CHECK_INT(sh->flow, FLOW_EXIT);
    sh->flow = FLOW_NONE;
    CHECK_INT(exec_text(sh, STR("set +e; exit 7"), 1, NULL), 7);
    CHECK_INT(sh->flow, FLOW_EXIT);
}

TEST(flows_reach_who_they_are_for)
{
    in_shell(flows);
}
