;;; drive.el --- the server in Emacs with eglot  -*- lexical-binding: t -*-
;; Run with: emacs -Q --batch -l drive.el FILE
;; KAIAK_SERVER is the server's command line.

(require 'cl-lib)
(require 'package)
(package-initialize)
(require 'eglot)
(require 'flymake)

(defvar kaiak-failed 0)
(defvar kaiak-passed 0)

(defun kaiak-await (what condition)
  "Wait until CONDITION returns something; WHAT names it in the failure."
  (let ((deadline (+ (float-time) 30)) value)
    (while (not (setq value (funcall condition)))
      (when (> (float-time) deadline) (error "waited in vain for %s" what))
      (accept-process-output nil 0.01))
    value))

(defmacro kaiak-step (name &rest body)
  (declare (indent 1))
  `(condition-case err
       (progn ,@body (cl-incf kaiak-passed) (princ (format "ok    %s\n" ,name)))
     (error (cl-incf kaiak-failed) (princ (format "FAIL  %s: %S\n" ,name err)))))

(setq eglot-sync-connect 10 eglot-autoshutdown nil eglot-confirm-server-initiated-edits nil)
(add-to-list 'eglot-server-programs
             `(java-mode . ,(split-string (getenv "KAIAK_SERVER"))))

(let* ((file (car (last command-line-args)))
       (project-find-functions (list (lambda (dir) (cons 'transient dir)))))
  (find-file file)
  (java-mode)
  (flymake-mode 1)
  (kaiak-step "the server starts"
    (eglot--connect '(java-mode) (cons 'transient default-directory) 'eglot-lsp-server
                    (split-string (getenv "KAIAK_SERVER")) "java")
    (eglot--managed-mode 1)
    (cl-assert (eglot-current-server)))
  (kaiak-step "incidents are diagnostics"
    (kaiak-await "diagnostics"
                 (lambda () (flymake-start) (flymake-diagnostics))))
  (kaiak-step "everything in the file is fixed by one action"
    (let ((before (buffer-string)))
      (let* ((actions (jsonrpc-request (eglot--current-server-or-lose) :textDocument/codeAction
                                       (list :textDocument (eglot--TextDocumentIdentifier)
                                             :range (list :start (eglot--pos-to-lsp-position (point-min))
                                                          :end (eglot--pos-to-lsp-position (point-max)))
                                             :context (list :diagnostics [] :only ["source.fixAll"]))))
             (action (and (> (length actions) 0) (aref actions 0))))
        (cl-assert action nil "no source.fixAll is offered")
        (unless (plist-get action :edit)
          (setq action (jsonrpc-request (eglot--current-server-or-lose) :codeAction/resolve action)))
        (eglot--apply-workspace-edit (plist-get action :edit))
        (cl-assert (not (equal before (buffer-string))))
        (cl-assert (string-match-p "import jakarta" (buffer-string)))
        (cl-assert (not (string-match-p "import javax\\.inject" (buffer-string)))))))
  (set-buffer-modified-p nil)
  (ignore-errors (eglot-shutdown (eglot-current-server)))
  (princ (format "%d passed, %d failed\n" kaiak-passed kaiak-failed))
  (kill-emacs (if (> kaiak-failed 0) 1 0)))
;;; drive.el ends here
